// What the user chose last, for new conversations: model and effort in all windows, mode, approvals and editor in this workspace.
import type { Memento } from 'vscode';
import { withChosen } from '../../core/conversation/choices.ts';
import {
  APPROVAL_MODES,
  type ConversationChoice,
  EDITOR_CONTEXTS,
  EFFORT_CHOICES,
  MODES,
} from '../../protocol/page/controlsView.ts';
import { type Settings } from '../../protocol/settings.ts';

const KEY = 'earshot.lastChoice';

/** A choice, with the settings at that time: a setting that the user changed later counts instead. */
interface Stored {
  readonly choice?: ConversationChoice;
  readonly settings?: ConversationChoice;
}

export class LastChoice {
  readonly #everywhere: Memento;
  readonly #here: Memento;
  readonly #settings: () => Settings;

  constructor(deps: { readonly everywhere: Memento; readonly here: Memento; settings(): Settings }) {
    this.#everywhere = deps.everywhere;
    this.#here = deps.here;
    this.#settings = deps.settings;
  }

  get current(): ConversationChoice {
    const { model, effort } = this.#read(this.#everywhere);
    const { mode, approvals, editor } = this.#read(this.#here);
    return withChosen(
      {},
      {
        model: typeof model === 'string' ? model : undefined,
        effort: EFFORT_CHOICES.find((one) => one === effort),
        mode: MODES.find((one) => one === mode),
        approvals: APPROVAL_MODES.find((one) => one === approvals),
        editor: EDITOR_CONTEXTS.find((one) => one === editor),
      },
    );
  }

  async set({ model, effort, mode, approvals, editor }: ConversationChoice): Promise<void> {
    await this.#write(this.#everywhere, { model, effort });
    await this.#write(this.#here, { mode, approvals, editor });
  }

  #read(memento: Memento): ConversationChoice {
    const { choice = {}, settings = {} } = memento.get<Stored>(KEY) ?? {};
    const now = this.#inSettings();
    const fields = Object.entries(choice) as [keyof ConversationChoice, never][];
    return Object.fromEntries(fields.filter(([name]) => settings[name] === now[name]));
  }

  async #write(memento: Memento, chosen: ConversationChoice): Promise<void> {
    if (Object.values(chosen).every((value) => value === undefined)) return;
    const choice = withChosen(this.#read(memento), chosen);
    await memento.update(KEY, { choice, settings: this.#inSettings() } satisfies Stored);
  }

  #inSettings(): ConversationChoice {
    const { model, mode, 'approvals.mode': approvals, editorContext: editor } = this.#settings();
    return { model, mode, approvals, editor };
  }
}
