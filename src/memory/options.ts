import { CALL_OPTIONS, type OptionNames } from "../contract/option-names.ts";
import type { CallOptions } from "../contract/store.ts";
import type { ForgetOptions, ForgetSelection, RecallOptions, ScopedRecallOptions } from "./contract.ts";

/** The options of a memory's calls, by name. */
export const SCOPED_RECALL_OPTIONS: OptionNames<ScopedRecallOptions> = {
  ...CALL_OPTIONS,
  limit: true,
  where: true,
  minCosineSimilarity: true,
};

export const RECALL_OPTIONS: OptionNames<RecallOptions> = { user: true, session: true, ...SCOPED_RECALL_OPTIONS };

export const CREATE_SESSION_OPTIONS: OptionNames<CallOptions & { readonly user?: string }> = {
  user: true,
  ...CALL_OPTIONS,
};

export const LIST_SESSIONS_OPTIONS: OptionNames<
  CallOptions & { readonly user?: string; readonly after?: string; readonly limit?: number }
> = { user: true, after: true, limit: true, ...CALL_OPTIONS };

export const FORGET_OPTIONS: OptionNames<ForgetOptions> = { ...CALL_OPTIONS, erase: true };

export const FORGET_SELECTION: OptionNames<ForgetSelection> = { events: true };
