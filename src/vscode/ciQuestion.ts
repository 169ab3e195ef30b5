// Asks the user once by which way CI and pull requests may be followed. The question stays open until it is answered.
import { type ForgeWay } from '../protocol/settings.ts';
import type { Choice, WaitingApprovals, WaitingQuestion } from './waitingApprovals.ts';

/** In the memory: the user has answered the question. */
const ASKED = 'earshot.forge.asked';
export const CI_SUBJECT = 'ci';

export interface CiQuestionDeps {
  readonly waiting: Pick<WaitingApprovals, 'choose' | 'withdraw'>;
  /** Of all windows. */
  readonly memory: {
    get(key: string): unknown;
    update(key: string, value: unknown): PromiseLike<void>;
  };
  /** Translates. */
  t(text: string, ...values: string[]): string;
  way(): ForgeWay;
  setWay(way: ForgeWay): Promise<void>;
  /** To GitHub. */
  signIn(): Promise<void>;
  report(error: unknown): void;
}

export class CiQuestion {
  readonly #deps: CiQuestionDeps;
  #isOpen = false;

  constructor(deps: CiQuestionDeps) {
    this.#deps = deps;
  }

  /** After an answer only a condition, which the user has just approved, asks again. */
  ask(host: string, why: 'push' | 'condition'): void {
    const { memory, report } = this.#deps;
    if (this.#isOpen || (why === 'push' && memory.get(ASKED) === true)) return;
    this.#isOpen = true;
    void this.#ask(host)
      .finally(() => (this.#isOpen = false))
      .catch(report);
  }

  /** Another way was chosen in the settings: there is nothing to ask any more. */
  wayChanged(): void {
    if (this.#isOpen && this.#deps.way() !== 'ask') this.#deps.waiting.withdraw(CI_SUBJECT);
  }

  async #ask(host: string): Promise<void> {
    const { waiting, memory, setWay, signIn } = this.#deps;
    const chosen = await waiting.choose(this.#question(host), this.#waysFor(host));
    if (chosen === undefined) return;
    await memory.update(ASKED, true);
    if (chosen === 'ask') return;
    await setWay(chosen);
    if (chosen === 'account') await signIn();
  }

  #question(host: string): WaitingQuestion {
    const { t } = this.#deps;
    const about = t(
      'Earshot can notify the agent of CI results and reviews of the commits that it pushes to {0}.',
      host,
    );
    return {
      subject: CI_SUBJECT,
      isProgram: false,
      name: t('CI results of {0}', host),
      waiting: about,
      announcement: about,
      question: t('Follow CI and pull requests on {0}?', host),
      detail: [
        about,
        t(
          'It asks {0} in your name, only for these commits, and changes nothing there. Logs and comments go to the model.',
          host,
        ),
        t('After “Not Now”, only a condition about CI that you approve asks again.'),
      ].join('\n\n'),
    };
  }

  /** `ask`: it stays as it is. */
  #waysFor(host: string): readonly Choice<ForgeWay>[] {
    const { t } = this.#deps;
    return [
      { label: t('Use {0}', host.includes('gitlab') ? 'glab' : 'gh'), answer: 'gh' },
      ...(host === 'github.com' ? [{ label: t('Use GitHub Account'), answer: 'account' } as const] : []),
      { label: t('Not Now'), answer: 'ask' },
      { label: t('Never'), answer: 'off' },
    ];
  }
}
