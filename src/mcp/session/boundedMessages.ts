// Cuts long lists in a server's answers before the client library validates them item by item, and says what was cut.
import { type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';

/** Parts of one result, resource or prompt. The last part that is passed on says how many are missing. */
const MOST_PARTS = 1000;
/** Longer lists of tools, resources and prompts are cut. */
const MOST_LISTED = 2000;

const LISTS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Call it before the client is connected. `received` gets each message first. */
export function boundMessages(
  transport: Transport,
  log: (line: string) => void,
  received: (message: JSONRPCMessage) => void,
): void {
  let handler = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set: (next: Transport['onmessage']) => {
      handler =
        next &&
        ((message, extra) => {
          received(message);
          next(cutAnswer(message, log), extra);
        });
    },
  });
}

function cutAnswer<T extends JSONRPCMessage>(message: T, log: (line: string) => void): T {
  const { result } = message as { result?: unknown };
  const cut = cutFields(result, log);
  return cut === result ? message : { ...message, result: cut };
}

/** Returns the same object if nothing is too long. */
function cutFields(value: unknown, log: (line: string) => void): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const changed: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(PARTS)) {
    const all = arrayIn(fields, name);
    if (all.length <= MOST_PARTS) continue;
    const text = `(${all.length - MOST_PARTS + 1} more parts were left out)`;
    changed[name] = [...all.slice(0, MOST_PARTS - 1), part(text, all[0])];
    log(`It sent ${all.length} parts in one answer, of which ${MOST_PARTS - 1} are used.`);
  }
  for (const name of LISTS) {
    const all = arrayIn(fields, name);
    if (all.length > MOST_LISTED) changed[name] = cutList(name, all, log);
  }
  // The result of a task is inside the answer.
  const inner = cutFields(fields['result'], log);
  if (inner !== fields['result']) changed['result'] = inner;
  return Object.keys(changed).length === 0 ? value : { ...fields, ...changed };
}

function arrayIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

/** The note in the form of a part: of a result, a resource, or a prompt. */
const PARTS: Readonly<Record<string, (text: string, first: unknown) => object>> = {
  content: (text) => ({ type: 'text', text }),
  contents: (text, first) => ({ uri: uriOf(first), text }),
  messages: (text) => ({ role: 'user', content: { type: 'text', text } }),
};

function uriOf(value: unknown): string {
  const { uri } = (value ?? {}) as { uri?: unknown };
  return typeof uri === 'string' ? uri : '';
}

/** Also for a list that was sent in several pages. */
export function cutList<T>(what: (typeof LISTS)[number], all: readonly T[], log: (line: string) => void): readonly T[] {
  if (all.length <= MOST_LISTED) return all;
  log(`It lists ${all.length} ${what}, of which ${MOST_LISTED} are used.`);
  return all.slice(0, MOST_LISTED);
}
