/**
 * The closed filter tree (F1). `declared` fields are keys of the schema; `m` fields are keys of users,
 * whose type no schema tells. Before binding, a literal is what the caller wrote; after binding
 * (binder.ts), it is the canonical value of its kind.
 */
export interface FieldReference {
  readonly scope: "declared" | "m";
  readonly name: string;
}

export type Comparison = "<" | "<=" | ">" | ">=";

/** A literal of an unbound tree. An instant is written as `{ datetime: <RFC 3339 text> }`. */
export type Literal = string | number | bigint | boolean | { readonly datetime: string };

export type Filter =
  | { readonly op: "all" }
  | { readonly op: "none" }
  | { readonly op: "equals"; readonly field: FieldReference; readonly value: Literal }
  | {
      readonly op: "ordering";
      readonly field: FieldReference;
      readonly comparison: Comparison;
      readonly value: Literal;
    }
  | { readonly op: "in"; readonly field: FieldReference; readonly values: readonly Literal[] }
  | { readonly op: "isNull"; readonly field: FieldReference }
  | { readonly op: "and"; readonly operands: readonly Filter[] }
  | { readonly op: "or"; readonly operands: readonly Filter[] }
  | { readonly op: "not"; readonly operand: Filter };

export type FilterOperator = Filter["op"];
