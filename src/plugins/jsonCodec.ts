// The codec of WIRE A: JSON objects with a `type` in snake_case.
import type * as z from 'zod';
import { describeError } from '../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../base/json/outsideJson.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type ListenerRequest, listenerSchemas } from '../protocol/outside/listener.ts';
import { type PluginRequest, requestSchemas } from '../protocol/plugin.ts';
import { type Decoded, type PluginCodec } from './codec.ts';

export const jsonCodec: PluginCodec = createJsonCodec<PluginRequest>(requestSchemas);

/** The codec of outside agents, which can request only notifications. */
export const listenerCodec: PluginCodec<ListenerRequest> = createJsonCodec<ListenerRequest>(listenerSchemas);

type Schemas<Request> = Readonly<Record<string, z.ZodType<Request>>>;

function createJsonCodec<Request>(schemas: Schemas<Request>): PluginCodec<Request> {
  return {
    decode: (line) => {
      if (line === undefined) return { ok: false, request: '', message: 'The line is not valid UTF-8.' };
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch (error) {
        return { ok: false, request: '', message: `The line is not JSON: ${describeError(error)}.` };
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return { ok: false, request: '', message: 'The line is not a JSON object.' };
      }
      return decodeObject(schemas, value as Readonly<Record<string, unknown>>);
    },
    encode: (message) => JSON.stringify(message),
  };
}

function decodeObject<Request>(schemas: Schemas<Request>, value: Readonly<Record<string, unknown>>): Decoded<Request> {
  const { type, id } = value;
  const known = { request: typeof type === 'string' ? type : '', ...(typeof id === 'string' && { id }) };
  const refuse = (message: string): Decoded<Request> => ({ ok: false, ...known, message });
  if (typeof type !== 'string') return refuse('type: must be a string.');
  if (id !== undefined && typeof id !== 'string') return refuse('id: must be a string.');
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) return refuse(`type: there is no request “${type.slice(0, 100)}”.`);
  if (isDeeperThan(value, MOST_DEPTH)) return refuse(`The line is ${TOO_DEEP}.`);
  const parsed = schema.safeParse(value);
  return parsed.success ? { ok: true, request: parsed.data } : refuse(`${describeIssue(parsed.error)}.`);
}
