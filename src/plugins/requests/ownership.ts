// Makes this window the owner of a conversation for a plugin's request, unless another window is using it.
import { type Disposable } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type PluginPorts } from '../pluginPorts.ts';

const WORKING_ELSEWHERE = 'another window is working on this conversation';

type OwnershipPorts = Pick<PluginPorts, 'earshot' | 'keepAlive' | 'views' | 'store'>;

/** Whether a turn of the conversation runs in this window. */
export function runsHere({ earshot }: Pick<PluginPorts, 'earshot'>, conversation: string): boolean {
  return earshot.get(conversation)?.running === true;
}

export function workingElsewhere() {
  return failed('plugin', WORKING_ELSEWHERE);
}

/**
 * Resolves to a hold that keeps the conversation live. If another window owns it, it moves here as with *Continue
 * here*, provided that no turn runs there and the user is not typing there.
 */
export async function ownHere(ports: OwnershipPorts, conversation: string): Promise<Result<Disposable>> {
  const { earshot, keepAlive, views, store } = ports;
  if (earshot.get(conversation) === undefined) {
    const end = await store.end(conversation);
    if (!end.ok) return end;
  }
  const wasLive = earshot.get(conversation) !== undefined;
  const hold = keepAlive.hold(conversation, !wasLive);
  const owned = await takeOver();
  if (owned.ok) return succeeded(hold);
  hold.dispose();
  return owned;

  async function takeOver(): Promise<Result<unknown>> {
    const opened = await earshot.open(conversation);
    if (!opened.ok || opened.value.owned) return opened;
    const { turn } = opened.value.log.state;
    if (turn.isOpen || (await views.isTypedElsewhere(conversation))) return workingElsewhere();
    const taken = await earshot.continueHere(conversation);
    if (!taken.ok) return taken;
    // A turn has started there meanwhile and was handed over too.
    if (earshot.get(conversation)?.running === true) return workingElsewhere();
    return earshot.get(conversation)?.owned === true ? taken : workingElsewhere();
  }
}
