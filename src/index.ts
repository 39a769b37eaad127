export type { ArchiveCounts } from "./archive/archived.ts";
export type {
  BackupManifest,
  BackupOptions,
  BackupProgress,
  BackupReceipt,
  RestoreOptions,
  RestoreReceipt,
} from "./contract/backup.ts";
export type { Capabilities } from "./contract/capabilities.ts";
export type { InstantLike } from "./contract/datetime.ts";
export type { FilterBuilder } from "./contract/filter-builder.ts";
export type { Comparison, FieldReference, Filter, FilterOperator, Literal } from "./contract/filter-tree.ts";
export { LIMITS } from "./contract/limits.ts";
export type { PropertyInput, PropertyKind, PropertySchema, PropertyValues } from "./contract/properties.ts";
export type { UserInputValue } from "./contract/property-values.ts";
export type {
  CallOptions,
  DeleteOptions,
  DeleteReceipt,
  DeleteSelection,
  Erasure,
  Match,
  Partition,
  PartitionInfo,
  QueryAnswer,
  QueryManyRequest,
  QueryOptions,
  QueryRequest,
  RecordInput,
  ScanOptions,
  ScanPage,
  Store,
  StoredRecord,
  UpsertReceipt,
  WriteReceipt,
} from "./contract/store.ts";
export type { VectorInput } from "./contract/vector.ts";
export type { JsonFilter, Where } from "./contract/where.ts";
export type { Embedder, EmbeddingKind, EmbedOptions } from "./embedding/embedder.ts";
export type { EmbedderIdentity } from "./embedding/identity.ts";
export { type AiSdkEmbedderOptions, type AiSdkEmbeddingModel, aiSdkEmbedder } from "./embedding/providers/ai-sdk.ts";
export {
  type EmbedTexts,
  type FunctionEmbedderOptions,
  functionEmbedder,
  type VectorAnswer,
} from "./embedding/providers/function.ts";
export { createMiniLmEmbedder, type MiniLmOptions } from "./embedding/providers/minilm.ts";
export { type OpenAiCompatibleOptions, openAiCompatibleEmbedder } from "./embedding/providers/openai-compatible.ts";
export type { TextTemplates } from "./embedding/providers/text-groups.ts";
export { type TransformersOptions, transformersEmbedder } from "./embedding/providers/transformers.ts";
export type { TransformersDtype } from "./embedding/providers/transformers-model.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorOutcome,
  type ErrorRetry,
  HoldfastError,
  isHoldfastError,
} from "./errors/index.ts";
export { filter, parse, print } from "./filter/index.ts";
export type {
  ArchiveCalls,
  ArchiveExportProgress,
  ArchiveImportProgress,
  ArchiveSource,
  ExportArchiveOptions,
  ImportArchiveOptions,
  ImportArchiveReceipt,
} from "./memory/archive-contract.ts";
export type { Block, JsonValue } from "./memory/blocks.ts";
export type {
  ContextEvent,
  CreatedTenant,
  DeletionOptions,
  DeletionReceipt,
  ForgetOptions,
  ForgetReceipt,
  ForgetSelection,
  Memory,
  MemoryStats,
  RecallAnswer,
  RecallExplanation,
  RecallHit,
  RecallOptions,
  RememberReceipt,
  Reranking,
  ScopedForgetSelection,
  ScopedRecallOptions,
  Session,
  SessionInfo,
  Tenant,
  TenantInfo,
} from "./memory/contract.ts";
export type { DeclaredProperties, DeclaredProperty, FillDeclaredOptions } from "./memory/declared-contract.ts";
export type { Derivation, DerivationInput, Derive } from "./memory/derivation.ts";
export type {
  CountOptions,
  EventCalls,
  EventPage,
  EventRevision,
  EventUpdate,
  ListOptions,
  MemoryEvent,
  ScopedCountOptions,
  ScopedListOptions,
  UpdateOptions,
} from "./memory/event-contract.ts";
export type { EventInput } from "./memory/event-input.ts";
export type { ExportCalls, ExportedEvent, ExportedValue, ExportPage } from "./memory/export-contract.ts";
export type { FolderBytes, FolderCalls, FolderStats } from "./memory/folder-contract.ts";
export type {
  Change,
  ChangesOptions,
  ChangesPage,
  RecentAnswer,
  RecentEvent,
  RecentOptions,
  SessionLog,
  SessionSummary,
  Summarise,
  SummariseInput,
  UpdateSummaryOptions,
} from "./memory/log-contract.ts";
export type {
  EmbedPendingAnswer,
  EmbedPendingOptions,
  EmbedPendingProgress,
  PendingCalls,
  PendingEmbedding,
  PendingOptions,
  PendingPage,
} from "./memory/pending-contract.ts";
export {
  contextOf,
  type RecalledContext,
  type RecalledEvent,
  type RecalledSession,
  type RenderOptions,
  renderContext,
} from "./memory/prompt-context.ts";
export type { Segmentation, Segmenter } from "./memory/segmentation.ts";
export { type MemoryOptions, openMemory } from "./open-memory.ts";
export { openStore, type StoreOptions } from "./open-store.ts";
export type { RepairedTable, RepairOptions, RepairReport } from "./repair/repair-contract.ts";
export { repairFolder } from "./repair-folder.ts";
export {
  type AiSdkRerankingModel,
  aiSdkReranker,
  functionReranker,
  type ScoreTexts,
} from "./reranking/adapters.ts";
export type { Reranker, RerankRequest, RerankScore } from "./reranking/reranker.ts";
export { restore } from "./restore.ts";
export type { Finding, FindingKind } from "./verify/findings.ts";
export { FINDING_KINDS } from "./verify/findings.ts";
export type { MaintenanceProgress, VerifyCounts, VerifyOptions, VerifyReport } from "./verify/verify-contract.ts";
export { verifyFolder } from "./verify-folder.ts";
