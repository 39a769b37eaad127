import { CALL_OPTIONS, type OptionNames, WRITE_OPTIONS } from "../contract/option-names.ts";
import type { CallOptions, WriteOptions } from "../contract/store.ts";
import type { ExportArchiveOptions, ImportArchiveOptions } from "./archive-contract.ts";
import type {
  DeletionOptions,
  ForgetOptions,
  ForgetSelection,
  RecallOptions,
  ScopedForgetSelection,
  ScopedRecallOptions,
} from "./contract.ts";
import type { FillDeclaredOptions } from "./declared-contract.ts";
import type {
  CountOptions,
  EventUpdate,
  ListOptions,
  ScopedCountOptions,
  ScopedListOptions,
  UpdateOptions,
} from "./event-contract.ts";
import type { ChangesOptions, RecentOptions, UpdateSummaryOptions } from "./log-contract.ts";
import type { EmbedPendingOptions, PendingOptions } from "./pending-contract.ts";

/** The options of a memory's calls, by name. */
export const SCOPED_RECALL_OPTIONS: OptionNames<ScopedRecallOptions> = {
  ...CALL_OPTIONS,
  limit: true,
  where: true,
  minCosineSimilarity: true,
  channels: true,
  context: true,
  explain: true,
  waitForModel: true,
  rerank: true,
};

export const RECALL_OPTIONS: OptionNames<RecallOptions> = { user: true, session: true, ...SCOPED_RECALL_OPTIONS };

export const CREATE_SESSION_OPTIONS: OptionNames<WriteOptions & { readonly user?: string }> = {
  user: true,
  ...WRITE_OPTIONS,
};

export const LIST_SESSIONS_OPTIONS: OptionNames<
  CallOptions & { readonly user?: string; readonly after?: string; readonly limit?: number }
> = { user: true, after: true, limit: true, ...CALL_OPTIONS };

export const FORGET_OPTIONS: OptionNames<ForgetOptions> = {
  ...WRITE_OPTIONS,
  dryRun: true,
  erase: true,
  expectedRevision: true,
};

export const SCOPED_FORGET_SELECTION: OptionNames<ScopedForgetSelection> = { events: true, where: true };

export const FORGET_SELECTION: OptionNames<ForgetSelection> = { ...SCOPED_FORGET_SELECTION, session: true, user: true };

export const DELETION_OPTIONS: OptionNames<DeletionOptions> = { ...WRITE_OPTIONS, erase: true };

export const LIST_TENANTS_OPTIONS: OptionNames<CallOptions & { readonly after?: string; readonly limit?: number }> = {
  after: true,
  limit: true,
  ...CALL_OPTIONS,
};

export const SCOPED_LIST_OPTIONS: OptionNames<ScopedListOptions> = {
  ...CALL_OPTIONS,
  where: true,
  limit: true,
  after: true,
};

export const LIST_OPTIONS: OptionNames<ListOptions> = { user: true, session: true, ...SCOPED_LIST_OPTIONS };

export const SCOPED_COUNT_OPTIONS: OptionNames<ScopedCountOptions> = { ...CALL_OPTIONS, where: true };

export const COUNT_OPTIONS: OptionNames<CountOptions> = { user: true, session: true, ...SCOPED_COUNT_OPTIONS };

export const PENDING_OPTIONS: OptionNames<PendingOptions> = {
  ...CALL_OPTIONS,
  state: true,
  after: true,
  limit: true,
};

export const EMBED_PENDING_OPTIONS: OptionNames<EmbedPendingOptions> = {
  ...CALL_OPTIONS,
  includeParked: true,
  onProgress: true,
};

export const FILL_DECLARED_OPTIONS: OptionNames<FillDeclaredOptions> = { ...CALL_OPTIONS, onProgress: true };

export const EXPORT_ARCHIVE_OPTIONS: OptionNames<ExportArchiveOptions> = {
  ...CALL_OPTIONS,
  tenant: true,
  skipDamaged: true,
  onProgress: true,
};

export const IMPORT_ARCHIVE_OPTIONS: OptionNames<ImportArchiveOptions> = {
  ...CALL_OPTIONS,
  as: true,
  dryRun: true,
  onProgress: true,
};

export const EVENT_UPDATE: OptionNames<EventUpdate> = { text: true, blocks: true, properties: true };

export const CHANGES_OPTIONS: OptionNames<ChangesOptions> = { ...CALL_OPTIONS, after: true, limit: true };

export const RECENT_OPTIONS: OptionNames<RecentOptions> = { ...CALL_OPTIONS, maxEvents: true, maxCharacters: true };

export const UPDATE_SUMMARY_OPTIONS: OptionNames<UpdateSummaryOptions> = {
  ...CALL_OPTIONS,
  keepEvents: true,
  maxEventsPerCall: true,
  onProgress: true,
};

export const UPDATE_OPTIONS: OptionNames<UpdateOptions> = { ...WRITE_OPTIONS, expectedRevision: true };
