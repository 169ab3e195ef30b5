// Checks a record that another machine published: its subject, its body and the claim of its author must agree.
import * as z from 'zod';
import { isDeeperThan, MOST_DEPTH, parseObject, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { HUB_NAME, isReservedName, MOST_BODY_BYTES, type MessageRecord, messageRecord } from '../../protocol/hub.ts';
import { type Claim } from './claimValue.ts';
import { aboutOf, type SubjectTokens } from './streamNames.ts';

const decoder = new TextDecoder();
const EVENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Ids and names are shown to models without escaping, so they may contain only these characters. */
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const publicName = z.string().regex(/^[a-z0-9_-]{1,70}$/);
const time = z.iso.datetime();
const scopes = z.array(z.unknown()).max(100);
/** The limits that a hub also enforces for its own agents. */
const limits = z.object({
  message_id: id,
  timestamp: time,
  author: z
    .union([publicName, z.object({ role: z.union([z.literal(''), publicName]), module: z.string().max(64) })])
    .optional(),
  format: z.enum(['markdown', 'plain', 'json']).optional(),
  thread: z
    .object({ title: z.string().max(200), created_by: publicName, created_at: time, scopes, root: id.optional() })
    .optional(),
  reply_to: id.optional(),
  scopes: scopes.optional(),
  /** Includes the references for mentions. */
  refs: z.array(z.unknown()).max(200).optional(),
  client_id: z.string().max(128).optional(),
});

export type Checked = { readonly record: MessageRecord } | { readonly refused: string };

/** `messageId`: the `Nats-Msg-Id` of the message. */
export function checkReceived(tokens: SubjectTokens, messageId: string, data: Uint8Array): Checked {
  const value = parseObject(decoder.decode(data));
  if (value === undefined) return { refused: 'its body is no JSON object' };
  if (isDeeperThan(value, MOST_DEPTH)) return { refused: `its body is ${TOO_DEEP}` };
  const parsed = messageRecord.safeParse(value);
  if (!parsed.success) return { refused: `its body is no record: ${parsed.error.issues[0]?.path.join('.') ?? ''}` };
  const record = parsed.data;
  if (!EVENT_ID.test(record.event_id) || record.event_id !== messageId)
    return { refused: 'its id and the one in its body differ' };
  if ((record.type === 'message.create') !== (tokens.kind === 'msg'))
    return { refused: 'its subject and its body differ in kind' };
  if (aboutOf(record) !== tokens.about)
    return { refused: 'its subject and its body name different messages or threads' };
  const exceeded = limits.safeParse(record).error?.issues[0];
  if (exceeded !== undefined) return { refused: `its body is no record: ${exceeded.path.join('.')}` };
  if (record.type !== 'message.delete' && bodyLength(record) > MOST_BODY_BYTES)
    return { refused: 'its content is too long' };
  const author = authorName(record);
  if (author === undefined || !isPublicNameOf(tokens.author, author, tokens.machine))
    return { refused: 'its subject and its body name different authors' };
  const reserved = namesIn(record, tokens).find(isReservedName);
  return reserved === undefined ? { record } : { refused: `the name ${reserved} is reserved` };
}

/** The names under which a record could speak. */
function namesIn(record: MessageRecord, { author }: SubjectTokens): string[] {
  if (record.type !== 'message.create') return [author, record.author];
  const { author: body, thread } = record;
  return [author, body.name, body.role, thread?.created_by ?? ''];
}

function bodyLength({ content, structured }: { readonly content: string; readonly structured?: unknown }): number {
  return Buffer.byteLength(content) + (structured === undefined ? 0 : Buffer.byteLength(JSON.stringify(structured)));
}

/** Undefined: the name is not valid. */
function authorName(record: MessageRecord): string | undefined {
  if (record.type !== 'message.create') return HUB_NAME.test(record.author) ? record.author : undefined;
  const { agent_id: id, name } = record.author;
  return id === name && HUB_NAME.test(name) ? name : undefined;
}

/** The public names that an agent may have on other machines, in the order in which they are tried. */
export function publicNames(agent: string, machine: string): string[] {
  const long = `${agent}-${machine}`;
  return [agent, long, ...Array.from({ length: 8 }, (_, index) => `${long}-${index + 2}`)];
}

function isPublicNameOf(name: string, agent: string, machine: string): boolean {
  return name === agent || publicNames(agent, machine).includes(name);
}

/**
 * Why the record is refused because of the claim on its author's name; undefined: it is accepted. If the record is
 * older than the claim, or there is no claim, the name belongs to the machine of the author's newest message in this
 * hub, if it has one.
 */
export function claimAgainst(
  claim: Claim | undefined,
  machine: string,
  publishedAt: number,
  lastMachine: () => string | undefined,
): string | undefined {
  if (claim?.machine === machine) return undefined;
  const owner = claim === undefined || publishedAt < claim.since ? (lastMachine() ?? machine) : claim.machine;
  return owner === machine ? undefined : `its author’s name belongs to machine ${owner}`;
}
