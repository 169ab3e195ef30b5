// Makes this window the owner of a conversation for a verb, unless another window is using it.
import { type Disposable } from '../../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { type LiveConversation } from '../../conversation/liveConversation.ts';
import { type LocalPorts } from './localPorts.ts';

const WORKING_ELSEWHERE = 'another window is working on this conversation';

type OwningPorts = Pick<LocalPorts, 'earshot' | 'keepAlive' | 'views' | 'store'>;

export function workingElsewhere() {
  return failed('plugin', WORKING_ELSEWHERE);
}

/** Opens a conversation and keeps it live until `hold` is disposed of. Fails if there is no such conversation. */
export async function holdOpen(
  { earshot, keepAlive, store }: Pick<OwningPorts, 'earshot' | 'keepAlive' | 'store'>,
  conversation: string,
): Promise<Result<{ readonly hold: Disposable; readonly live: LiveConversation }>> {
  const isLive = earshot.get(conversation) !== undefined;
  const end = isLive ? undefined : await store.end(conversation);
  if (end?.ok === false) return end;
  const hold = keepAlive.hold(conversation, earshot.get(conversation) === undefined);
  const opened = await earshot.open(conversation);
  if (opened.ok) return succeeded({ hold, live: opened.value });
  hold.dispose();
  return opened;
}

/**
 * Like `holdOpen`. If another window owns the conversation, it moves here as with *Continue here*, provided that no turn
 * runs there and the user is not typing there.
 */
export async function ownHere(ports: OwningPorts, conversation: string): Promise<Result<Disposable>> {
  const { earshot, views } = ports;
  const opened = await holdOpen(ports, conversation);
  if (!opened.ok) return opened;
  const { hold, live } = opened.value;
  const owned = await takeOver();
  if (owned.ok) return succeeded(hold);
  hold.dispose();
  return owned;

  async function takeOver(): Promise<Result<unknown>> {
    if (live.owned) return succeeded(undefined);
    if (live.log.state.turn.isOpen || (await views.isTypedElsewhere(conversation))) return workingElsewhere();
    const taken = await earshot.continueHere(conversation);
    if (!taken.ok) return taken;
    // A turn has started there meanwhile and was handed over too.
    if (earshot.get(conversation)?.running === true) return workingElsewhere();
    return earshot.get(conversation)?.owned === true ? taken : workingElsewhere();
  }
}

/** Runs an action while this window owns the conversation. */
export async function whileOwned<T>(
  ports: OwningPorts,
  conversation: string,
  act: () => Promise<Result<T>>,
): Promise<Result<T>> {
  const hold = await ownHere(ports, conversation);
  if (!hold.ok) return hold;
  try {
    return await act();
  } finally {
    hold.value.dispose();
  }
}
