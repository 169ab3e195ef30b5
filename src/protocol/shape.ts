// Compiles a zod schema into a fast check of types, for data that was validated when it was written.
import type * as z from 'zod';
import { isDeeperThan, isObject } from '../base/json/outsideJson.ts';

type Check = (value: unknown) => boolean;

/** Deeper data is never written, and would overflow the stack when it is serialized. */
const DEEPEST_READ = 1000;

/**
 * Accepts unknown fields, since a later version may have written them, and strings of any length and form: readers rely
 * on the types only.
 */
export function shapeCheck(schema: z.core.$ZodType): Check {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'number':
      // `z.int()` has a format.
      return 'format' in def && def.format !== undefined ? Number.isSafeInteger : Number.isFinite;
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'literal': {
      const values = new Set<unknown>(def.values);
      return (value) => values.has(value);
    }
    case 'enum': {
      const values = new Set<unknown>(Object.values(def.entries));
      return (value) => values.has(value);
    }
    case 'unknown':
      return (value) => !isDeeperThan(value, DEEPEST_READ);
    case 'record':
      return (value) => isObject(value) && !isDeeperThan(value, DEEPEST_READ);
    case 'optional': {
      const check = shapeCheck(def.innerType);
      return (value) => value === undefined || check(value);
    }
    case 'array': {
      const check = shapeCheck(def.element);
      return (value) => Array.isArray(value) && value.every((one) => check(one));
    }
    case 'tuple': {
      const checks = def.items.map((item) => shapeCheck(item));
      return (value) => Array.isArray(value) && checks.every((check, index) => check(value[index]));
    }
    case 'union': {
      const checks = def.options.map((option) => shapeCheck(option));
      return (value) => checks.some((check) => check(value));
    }
    case 'object':
      return objectCheck(def.shape);
    default:
      throw new Error(`there is no quick check of ${def.type}`);
  }
}

function objectCheck(shape: Readonly<Record<string, z.core.$ZodType>>): Check {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, check: shapeCheck(schema) }));
  return (value) => {
    if (!isObject(value)) return false;
    for (const { name, check } of fields) if (!check(value[name])) return false;
    return true;
  };
}
