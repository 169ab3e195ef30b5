// Projects which states of each handle were reported, by results or queued notifications, so that each is reported
// once.
import { defined } from '../../../base/json/defined.ts';
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification, type NotificationDraft } from '../../../protocol/notification.ts';
import { handleInScope } from '../../../protocol/scopes.ts';

export interface KnownHandle {
  readonly name: string;
  readonly started: EventOf<'handle_started'>;
  /** The tool that started it; undefined if the log has lost the call. */
  readonly tool: string | undefined;
  /** Its output was shown up to this byte. */
  readonly through: number;
  /** Its end was shown or queued. */
  readonly ended: boolean;
  /** The last prompt that was shown or queued, identified by the size of the output before it. */
  readonly prompt?: number;
}

export class HandleStates {
  readonly #known = new Map<string, KnownHandle>();
  /** The tool's name for each call without a result, by the call's id. */
  readonly #running = new Map<string, string>();

  /** In the order in which they were started. */
  get all(): readonly KnownHandle[] {
    return [...this.#known.values()];
  }

  get(name: string): KnownHandle | undefined {
    return this.#known.get(name);
  }

  /** Whether a `tool.*` notification repeats a reported state, or belongs to an earlier handle of the same name. */
  isReported(draft: Pick<NotificationDraft, 'kind' | 'subject' | 'data'>): boolean {
    const known = this.#of(draft);
    if (known === undefined) return false;
    if (known.ended || !isOfRun(draft, known)) return true;
    return (
      draft.kind.name === 'waiting' && draft.data?.['prompt'] !== undefined && draft.data['prompt'] === known.prompt
    );
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'handle_started': {
        // A reused name refers to the newest handle.
        this.#known.delete(event.name);
        const tool = this.#running.get(event.tool_call_id);
        this.#known.set(event.name, {
          name: event.name,
          started: event,
          tool,
          through: 0,
          ended: event.ended === true,
        });
        return;
      }
      case 'tool_call_request':
        this.#running.set(event.id, event.name);
        return;
      case 'forked':
        // Handles stay with the original.
        this.#known.clear();
        return;
      case 'tool_call_response':
        this.#running.delete(event.id);
        for (const { name, state, through, prompt } of event.handles ?? []) {
          const known = this.#known.get(name);
          if (known === undefined) continue;
          this.#set(known, {
            through: Math.max(known.through, through ?? 0),
            ended: known.ended || state === 'stopped',
            ...defined({ prompt }),
          });
        }
        return;
      case 'notification_queued': {
        const { notification } = event;
        for (const name of reportedByWake(notification)) {
          const ended = this.#known.get(name);
          if (ended !== undefined) this.#set(ended, { ended: true });
        }
        const known = this.#of(notification);
        if (known === undefined || !isOfRun(notification, known)) return;
        const prompt = notification.data?.['prompt'];
        if (notification.kind.name !== 'waiting') this.#set(known, { ended: true });
        else if (typeof prompt === 'number') this.#set(known, { prompt });
        return;
      }
      default:
        return;
    }
  }

  #of({ kind, subject }: Pick<NotificationDraft, 'kind' | 'subject'>): KnownHandle | undefined {
    const name = kind.source === 'tool' && subject !== undefined ? handleInScope(subject) : undefined;
    return name === undefined ? undefined : this.#known.get(name);
  }

  #set(known: KnownHandle, change: Partial<KnownHandle>): void {
    this.#known.set(known.name, { ...known, ...change });
  }
}

/** The ended handles whose end a condition reports as its evidence. */
function reportedByWake({ kind, grant, data }: Notification): readonly string[] {
  const handles = kind.source === 'wake' && grant !== undefined ? data?.['handles'] : undefined;
  return Array.isArray(handles) ? handles.filter((one) => typeof one === 'string') : [];
}

function isOfRun({ data }: Pick<NotificationDraft, 'data'>, { started }: KnownHandle): boolean {
  return data?.['run'] === undefined || data['run'] === started.tool_call_id;
}
