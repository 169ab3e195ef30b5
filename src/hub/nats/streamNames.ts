// The names of stream, buckets, consumer and subjects (WIRE C). Names use only characters that are legal in tokens, so
// nothing is escaped.
import { HUB_NAME, type MessageRecord } from '../../protocol/hub.ts';

export interface StreamNames {
  readonly stream: string;
  /** The pattern of all subjects in the stream. */
  readonly subjects: string;
  readonly agents: string;
  readonly presence: string;
}

export function streamNames(name: string): StreamNames {
  return {
    stream: `EAR_${name}`,
    subjects: `ear.${name}.>`,
    agents: `ear_agents_${name}`,
    presence: `ear_presence_${name}`,
  };
}

/** The stream behind a bucket. */
export function bucketStream(bucket: string): string {
  return `KV_${bucket}`;
}

export function consumerName(machine: string): string {
  return `m_${machine}`;
}

export function inboxPrefix(machine: string): string {
  return `_INBOX_${machine}`;
}

/** Ids of messages and threads, and public names of agents: each is one token. */
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const PUBLIC_NAME = /^[a-z0-9_-]{1,70}$/;

export interface SubjectTokens {
  readonly kind: 'msg' | 'edit';
  readonly machine: string;
  /** The public name of the author. */
  readonly author: string;
  /** For a message its thread, or `_` without one; for an edit or deletion the id of the message. */
  readonly about: string;
}

/** Undefined: an id is not a legal token, so the record cannot be published. */
export function subjectOf(name: string, machine: string, author: string, record: MessageRecord): string | undefined {
  const about = aboutOf(record);
  if (!ID.test(about)) return undefined;
  return `ear.${name}.${record.type === 'message.create' ? 'msg' : 'edit'}.${machine}.${author}.${about}`;
}

export function aboutOf(record: MessageRecord): string {
  return record.type === 'message.create' ? (record.thread?.thread_id ?? '_') : record.message_id;
}

/** Undefined: the subject does not belong to this name. */
export function parseSubject(name: string, subject: string): SubjectTokens | undefined {
  const tokens = subject.split('.');
  const [prefix, hub, kind, machine = '', author = '', about = ''] = tokens;
  if (tokens.length !== 6 || prefix !== 'ear' || hub !== name) return undefined;
  if (kind !== 'msg' && kind !== 'edit') return undefined;
  if (!HUB_NAME.test(machine) || !PUBLIC_NAME.test(author) || !ID.test(about)) return undefined;
  return { kind, machine, author, about };
}
