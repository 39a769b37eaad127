import type { BoundField, BoundFilter } from "../filter/index.ts";
import { VECTOR_PROPERTIES } from "./vector-records.ts";

/** The filter over the columns beside the vectors, or `undefined` when it names a field that has none. */
export function toColumnFilter(filter: BoundFilter): BoundFilter | undefined {
  switch (filter.op) {
    case "all":
    case "none":
      return filter;
    case "equals":
    case "ordering":
    case "in":
    case "isNull": {
      const field = toColumn(filter.field);
      return field && { ...filter, field };
    }
    case "and":
    case "or": {
      const operands = filter.operands.map(toColumnFilter);
      return operands.every((operand) => operand !== undefined) ? { op: filter.op, operands } : undefined;
    }
    case "not": {
      const operand = toColumnFilter(filter.operand);
      return operand && { op: "not", operand };
    }
    default:
      return filter satisfies never;
  }
}

function toColumn(field: BoundField): BoundField | undefined {
  return field.scope === "system" && Object.hasOwn(VECTOR_PROPERTIES, field.name)
    ? { scope: "declared", name: field.name }
    : undefined;
}
