// Detects notifications that would repeat the last shown state of the same kind and subject.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type ShippedKind } from '../../../protocol/kinds.ts';
import { type Notification, type NotificationDraft, printKind } from '../../../protocol/notification.ts';
import { scopeOf } from '../../../protocol/scopes.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';
import { attachedResources } from '../attachments.ts';
import { CARRIED_AS } from './history.ts';

type Draft = Pick<NotificationDraft, 'kind' | 'subject' | 'data'>;
type Carrier = EventOf<'chat_request' | 'tool_call_response'>;

/** What the model does cannot change it. */
const ABOUT_THE_USER = 'editor.focus' satisfies ShippedKind;

/** The last shown state of each kind and subject, until a call or a compaction makes it uncertain. */
export class Repeats {
  /** The last shown state, by kind and subject; undefined: what was shown has no state, such as a failure. */
  readonly #lastShown = new Map<string, string | undefined>();
  /** Nothing that the model did, and no compaction, has made states uncertain. */
  #isUntouched = true;
  /** Ids queued since the last call that changed something: only these describe the state after it. */
  readonly #fresh = new Set<string>();
  /** Running calls of tools that invalidate reported states, whether or not they change files. */
  readonly #actingCalls = new Set<string>();
  readonly #tools: KnownTools | undefined;

  constructor(tools: KnownTools | undefined) {
    this.#tools = tools;
  }

  isRepeat(draft: Draft): boolean {
    const state = reportedState(draft);
    if (state === undefined) return false;
    const key = kindSubjectKey(draft);
    if (this.#lastShown.has(key)) return this.#lastShown.get(key) === state;
    return this.#isUntouched && draft.data?.['usually'] === state;
  }

  /** Must run before `Pending.fold`, so that `pending` still finds the notifications of a carrier. */
  fold(event: LogEvent, pending: (id: string) => Notification | undefined): void {
    switch (event.type) {
      case 'notification_queued':
        if (reportedState(event.notification) !== undefined) this.#fresh.add(event.notification.id);
        return;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#fresh.delete(id);
        return;
      case 'tool_call_request':
        if (this.#tools?.traits(event.name)?.invalidatesReports === true) this.#actingCalls.add(event.id);
        return;
      case 'tool_call_response':
        if (this.#actingCalls.delete(event.id) || (event.changes?.length ?? 0) > 0) this.#forget(ABOUT_THE_USER);
        this.#readAgain(event.resources);
        return this.#carried(event, pending);
      case 'user_text_queued':
        return this.#readAgain(attachedResources(event.attachments));
      case 'chat_request':
        this.#readAgain(attachedResources(event.attachments));
        return this.#carried(event, pending);
      // The summary may omit the state.
      case 'compaction':
        return this.#forget();
      default:
        return;
    }
  }

  #forget(kept?: string): void {
    this.#isUntouched = false;
    for (const key of this.#lastShown.keys()) {
      if (kept === undefined || !key.startsWith(JSON.stringify([kept]).slice(0, -1))) this.#lastShown.delete(key);
    }
    this.#fresh.clear();
  }

  /** The current content of these MCP resources was shown, so their next change must be reported. */
  #readAgain(names: readonly string[] = []): void {
    for (const name of names) {
      const kind = { source: 'mcp', name: 'resource_updated' };
      this.#lastShown.delete(kindSubjectKey({ kind, subject: scopeOf('resource', name) }));
    }
  }

  #carried({ notifications }: Carrier, pending: (id: string) => Notification | undefined): void {
    if (notifications === undefined) return;
    const find = (ids: readonly string[]) => ids.flatMap((id) => pending(id) ?? []);
    const [shown, merged] = [find(notifications.shown), find(notifications.merged)];
    const keys = new Set(shown.map(kindSubjectKey));
    // Several subjects merged into one notification are listed without their states.
    const listed = new Set(merged.flatMap((one) => (keys.has(kindSubjectKey(one)) ? [] : [printKind(one.kind)])));
    for (const notification of [...merged, ...find(notifications.counted)])
      this.#lastShown.set(kindSubjectKey(notification), undefined);
    for (const notification of shown) {
      const state = listed.has(printKind(notification.kind)) ? undefined : reportedState(notification);
      const isCurrent = state !== undefined && this.#fresh.has(notification.id);
      this.#lastShown.set(kindSubjectKey(notification), isCurrent ? state : undefined);
    }
    for (const id of CARRIED_AS.flatMap((as) => notifications[as])) this.#fresh.delete(id);
  }
}

function reportedState({ data }: Draft): string | undefined {
  const state = data?.['state'];
  return typeof state === 'string' ? state : undefined;
}

function kindSubjectKey({ kind, subject = '' }: Draft): string {
  return JSON.stringify([printKind(kind), subject]);
}
