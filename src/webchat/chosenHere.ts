// The settings of the window, the model, effort, mode and approvals that hold in each conversation, and permanent approvals. Nothing announces
// them, so they are read when they are shown and after each choice.
import { share } from '../base/async.ts';
import { type Client } from '../core/client/client.ts';
import { settingsWith } from '../core/conversation/choices.ts';
import { type PageOffers } from '../core/frontend/page/pageOffers.ts';
import { type ChosenModel } from '../protocol/page/windowView.ts';
import { type RuleView, rulesIn } from '../protocol/page/rulesView.ts';
import { readSettings, type Settings } from '../protocol/settings.ts';
import { type WebChatOptions } from '../protocol/webChat.ts';

type Chosen = Omit<ChosenModel, 'context_window'> & { readonly contextWindow: number };

export class ChosenHere {
  readonly #client: Pick<Client, 'call'>;
  readonly #changed: () => void;
  /** The key is empty for new conversations. */
  readonly #chosen = new Map<string, Chosen>();
  #settings: Settings;
  /** All permanent approvals. */
  #rules: readonly RuleView[] = [];
  /** Reads the settings, and what holds in new conversations. */
  readonly read: () => Promise<void>;

  /** `changed`: call when something was read. */
  constructor(
    client: Pick<Client, 'call'>,
    config: Readonly<Record<string, unknown>>,
    { model }: Pick<WebChatOptions, 'model'>,
    changed: () => void,
  ) {
    this.#client = client;
    this.#settings = readConfig(config);
    this.#chosen.set('', model);
    this.#changed = changed;
    this.read = share(async () => {
      const asked = [client.call('read_config', {}), client.call('list_rules', {}), this.readOf(undefined)] as const;
      const [config, rules] = await Promise.all(asked);
      if (rules.ok) this.#rules = rules.value.data;
      if (config.ok) this.#settings = readConfig(config.value.data as Readonly<Record<string, unknown>>);
      changed();
    });
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** The permanent approvals that hold in a conversation. */
  rulesIn(conversation: string | undefined): readonly RuleView[] {
    return rulesIn(this.#rules, conversation);
  }

  async readOf(conversation: string | undefined): Promise<void> {
    const listed = await this.#client.call('list_models', conversation === undefined ? {} : { conversation });
    if (!listed.ok) return;
    const { context_window: contextWindow, ...rest } = listed.value.current;
    this.#chosen.set(conversation ?? '', { ...rest, contextWindow });
    this.#changed();
  }

  of(conversation = ''): ReturnType<PageOffers['chosen']> {
    const found = this.#chosen.get(conversation) ?? this.#chosen.get('');
    const model: Chosen = found ?? { label: '', detail: '', contextWindow: 0 };
    const { reference, mode, approvals, effort, alternatives = [] } = model;
    const settings = settingsWith(this.#settings, { model: reference, mode, approvals });
    return { model: { ...model, id: settings.model }, settings, choice: { effort }, alternatives: () => alternatives };
  }
}

function readConfig(config: Readonly<Record<string, unknown>>): Settings {
  return readSettings((name) => config[name]).settings;
}
