// A key-value bucket in JetStream. Uses only what a machine's permissions allow: keys are listed without a consumer.
import { type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { isWrongSequence } from './apiErrors.ts';
import { bucketStream } from './streamNames.ts';

const AT_ONCE = 32;

export interface Entry {
  readonly text: string;
  readonly revision: number;
  /** Milliseconds since 1970 by the server's clock. */
  readonly writtenAt: number;
}

export class Bucket {
  readonly #kv: KV;
  readonly #manager: JetStreamManager;
  readonly #name: string;

  private constructor(kv: KV, manager: JetStreamManager, name: string) {
    this.#kv = kv;
    this.#manager = manager;
    this.#name = name;
  }

  static async open(client: JetStreamClient, manager: JetStreamManager, name: string): Promise<Bucket> {
    return new Bucket(await new Kvm(client).open(name), manager, name);
  }

  /** Undefined if there is no such key. */
  async get(key: string): Promise<Entry | undefined> {
    const entry = await this.#kv.get(key);
    if (entry === null || entry.operation !== 'PUT') return undefined;
    return { text: entry.string(), revision: entry.revision, writtenAt: entry.created.getTime() };
  }

  /** A number that changes whenever a key changes. */
  async lastChange(): Promise<number> {
    return (await this.#manager.streams.info(bucketStream(this.#name))).state.last_seq;
  }

  async all(): Promise<Map<string, Entry>> {
    const prefix = `$KV.${this.#name}.`;
    const info = await this.#manager.streams.info(bucketStream(this.#name), { subjects_filter: `${prefix}>` });
    const keys = Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
    const entries = new Map<string, Entry>();
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      const part = keys.slice(at, at + AT_ONCE);
      const found = await Promise.all(part.map((key) => this.get(key)));
      for (const [index, entry] of found.entries()) if (entry !== undefined) entries.set(part[index] ?? '', entry);
    }
    return entries;
  }

  /**
   * Writes the key if it still has this revision; `revision` undefined: if the key does not exist. Returns the new
   * revision, or undefined if the key was changed.
   */
  async write(key: string, value: unknown, revision: number | undefined): Promise<number | undefined> {
    const text = JSON.stringify(value);
    try {
      return revision === undefined ? await this.#kv.create(key, text) : await this.#kv.update(key, text, revision);
    } catch (error) {
      if (isWrongSequence(error)) return undefined;
      throw error;
    }
  }

  /** False: the key was changed and is not removed. */
  async remove(key: string, revision: number): Promise<boolean> {
    try {
      await this.#kv.delete(key, { previousSeq: revision });
      return true;
    } catch (error) {
      if (isWrongSequence(error)) return false;
      throw error;
    }
  }
}
