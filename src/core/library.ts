// Renames, forks, exports and deletes whole conversations, open in this window or not.
import { FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { EVENT_VERSION, type LogEvent } from '../protocol/event.ts';
import { exportJson, exportMarkdown } from './conversation/export.ts';
import { choiceIn, forkedDraft, forkEvents, forkPoints } from './conversation/fork.ts';
import { openElsewhere, withOwned } from './conversation/opening.ts';
import { HubAgents } from './conversation/projections/hubAgents.ts';
import { shortTitle } from './conversation/projections/summary.ts';
import { type Earshot } from './earshot.ts';
import { type Services } from './tools/services.ts';

export type ExportFormat = 'markdown' | 'json';

type LibraryPorts = Pick<Services, 'store' | 'lock' | 'clock' | 'ids' | 'handles' | 'hub'>;

interface ForkBefore {
  readonly conversation: string;
  /** The request before which the fork ends. */
  readonly request: Extract<LogEvent, { type: 'chat_request' }>;
}

export class Library {
  readonly #ports: LibraryPorts;
  readonly #earshot: Earshot;

  constructor(ports: LibraryPorts, earshot: Earshot) {
    this.#ports = ports;
    this.#earshot = earshot;
  }

  async rename(id: string, title: string): Promise<Result<void>> {
    const short = shortTitle(title);
    if (short === '') return failed('no_title', 'The title is empty.', 'Write at least one character.');
    const live = this.#earshot.get(id);
    if (live !== undefined) {
      return orStorageFailure(async () => {
        await live.log.append({ type: 'title_set', title: short });
      });
    }
    return withOwned(this.#ports, id, async ({ file, nextSeq }) => {
      const { ids, clock } = this.#ports;
      const timestamp = new Date(clock.now()).toISOString();
      const envelope = { v: EVENT_VERSION, seq: nextSeq, event_id: ids.ulid(), timestamp } as const;
      await file.append({ ...envelope, type: 'title_set', title: short });
      file.titled?.(short);
    });
  }

  /**
   * Creates a conversation with the history up to the end of a cycle, by default the last one. `request`: the message
   * after it that the fork sends again.
   */
  async fork(id: string, through?: number, request?: string): Promise<Result<string>> {
    const events = await this.#read(id);
    if (!events.ok) return events;
    const point = through ?? forkPoints(events.value)[0];
    if (point === undefined) {
      return failed('nothing_to_fork', 'There is no complete answer yet.', 'Wait for the answer, then fork.');
    }
    const now = new Date(this.#ports.clock.now()).toISOString();
    const ulid = () => this.#ports.ids.ulid();
    const forked = forkEvents({ id, events: events.value, through: point, request, now, ulid });
    if (!forked.ok) return forked;
    const fork = this.#ports.ids.ulid();
    const created = await this.#ports.store.create(fork, forked.value);
    return created.ok ? succeeded(fork) : created;
  }

  /**
   * Creates a conversation that ends before this request of the user: a fork, or a new one if there is nothing before
   * it. The running turn is stopped, since it is replaced.
   */
  async forkBefore(id: string, request: string): Promise<Result<ForkBefore>> {
    const events = await this.#read(id);
    if (!events.ok) return events;
    const event = events.value.find((one) => one.event_id === request);
    if (event?.type !== 'chat_request') return failed('not_found', 'This message is no longer in the log.');
    await this.#earshot.stop(id);
    const point = forkPoints(events.value).find((seq) => seq < event.seq);
    const forked =
      point === undefined ? await this.#create(id, request, events.value) : await this.fork(id, point, request);
    return forked.ok ? succeeded({ conversation: forked.value, request: event }) : forked;
  }

  async #create(id: string, request: string, events: readonly LogEvent[]): Promise<Result<string>> {
    const created = await this.#earshot.create();
    if (!created.ok) return created;
    const { log } = created.value;
    const noted = await orStorageFailure(async () => {
      await log.append(forkedDraft({ id, through: 0, request }));
      const choice = choiceIn(events);
      if (Object.keys(choice).length > 0) await log.append({ type: 'choice_made', ...choice });
    });
    return noted.ok ? succeeded(log.id) : noted;
  }

  async export(id: string, format: ExportFormat): Promise<Result<string>> {
    const events = await this.#read(id);
    if (!events.ok) return events;
    const conversation = { id, events: events.value };
    return succeeded(format === 'json' ? exportJson(conversation) : exportMarkdown(conversation));
  }

  /** Fails while another window owns it. First stops everything that runs in it here. */
  async remove(id: string): Promise<Result<void>> {
    const live = this.#earshot.get(id);
    if (live !== undefined && !live.owned) return openElsewhere(live.owner);
    await this.#ports.handles.stopAll(id, 'its conversation was deleted');
    const names = await this.#namesOnHub(id);
    await this.#earshot.close(id);
    const removed = await this.#removeStored(id);
    if (removed.ok) await this.#ports.hub?.forget(names);
    return removed;
  }

  #removeStored(id: string): Promise<Result<void>> {
    return orStorageFailure(async () => {
      const { lock, store } = this.#ports;
      const held = await lock.acquire(id);
      if (held === undefined) throw new FailureError(openElsewhere(await lock.owner(id)).failure);
      const removed = await store.remove(id);
      await held.release();
      if (!removed.ok) throw new FailureError(removed.failure);
    });
  }

  /** Empty if the log cannot be read. */
  async #namesOnHub(id: string): Promise<Iterable<string>> {
    if (this.#ports.hub === undefined) return [];
    const live = this.#earshot.get(id);
    if (live !== undefined) return live.log.state.hubAgents.names;
    const read = await this.#ports.store.read(id);
    const agents = new HubAgents();
    for (const event of read.ok ? read.value.events : []) agents.fold(event);
    return agents.names;
  }

  async #read(id: string): Promise<Result<readonly LogEvent[]>> {
    const read = await this.#ports.store.read(id);
    if (!read.ok) return read;
    if (read.value.events.length === 0) return failed('no_conversation', 'There is no such conversation.');
    return succeeded(read.value.events);
  }
}

async function orStorageFailure(action: () => Promise<void>): Promise<Result<void>> {
  try {
    await action();
    return succeeded(undefined);
  } catch (error) {
    if (error instanceof FailureError) return { ok: false, failure: error.failure };
    throw error;
  }
}
