// Requests that act on a conversation's turn, its queued messages, pending notifications and commands.
import { type Disposable } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { DISMISSED_BY } from '../../core/notify/queue.ts';
import { BY_USER } from '../../core/tools/handleTexts.ts';
import { type RequestOf } from '../../protocol/plugin.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { type Answer, DONE, doneIf, refuse } from './answer.ts';
import { ownHere, runsHere, workingElsewhere } from './ownership.ts';

const NOT_RUNNING = 'tool_call_id: no command of this call is running in this window.';

/** Answers once the turn has stopped, or the message is in the log. */
export async function interruptTurn(
  ports: PluginPorts,
  { conversation, action, content = '', attachments }: Omit<RequestOf<'interrupt'>, 'type'>,
): Promise<Answer> {
  const { earshot } = ports;
  if (action !== 'stop' && content.trim() === '' && (attachments ?? []).length === 0)
    return refuse(`content: “${action}” needs it.`);
  if (!runsHere(ports, conversation)) {
    const elsewhere = earshot.get(conversation)?.owned === false && earshot.get(conversation)?.log.state.turn.isOpen;
    if (elsewhere === true) return workingElsewhere();
    return refuse('No turn is running in this conversation in this window.');
  }
  const options = attachments && { attachments };
  switch (action) {
    case 'stop':
      await earshot.stop(conversation);
      return DONE;
    case 'queue':
      return doneIf(await earshot.queue(conversation, content, options));
    case 'reply': {
      const acted = untilRequested(ports, conversation);
      try {
        const sent = await earshot.interrupt(conversation, content, options);
        if (!sent.ok) return sent;
        await Promise.race([acted.requested, earshot.ended(conversation)]);
        return DONE;
      } finally {
        acted.dispose();
      }
    }
  }
}

export async function deliverNow(ports: PluginPorts, { conversation }: RequestOf<'deliver_now'>): Promise<Answer> {
  return whileOwned(ports, conversation, () => ports.earshot.deliverNow(conversation));
}

export async function dismissNotifications(
  ports: PluginPorts,
  { conversation, notification_ids: ids }: RequestOf<'dismiss'>,
  by: string,
): Promise<Answer> {
  return whileOwned(ports, conversation, () =>
    ports.earshot.withdrawPending(conversation, ids, `${DISMISSED_BY}${by}`),
  );
}

/** Fails for a message that was delivered already. */
export async function withdrawQueued(
  { earshot }: PluginPorts,
  { conversation, queued_id: queued }: RequestOf<'withdraw_queued'>,
): Promise<Answer> {
  if (earshot.get(conversation)?.owned === false) return workingElsewhere();
  return doneIf(await earshot.withdrawMessage(conversation, queued));
}

export function moveToBackground(
  { handles }: PluginPorts,
  { conversation, tool_call_id: call }: RequestOf<'move_to_background'>,
): Answer {
  return handles.moveToBackground(conversation, call) ? DONE : refuse(NOT_RUNNING);
}

/** Reports the command as stopped by the user, in whose place the plugin acts. */
export async function stopCommand(
  { handles }: PluginPorts,
  { conversation, tool_call_id: call }: RequestOf<'stop_command'>,
): Promise<Answer> {
  const handle = handles.byRun(conversation, call);
  if (handle === undefined || handle.hasEnded) return refuse(NOT_RUNNING);
  await handle.stop(BY_USER);
  return DONE;
}

/** Runs an action while this window owns the conversation. */
async function whileOwned(
  ports: PluginPorts,
  conversation: string,
  act: () => Promise<Result<unknown>>,
): Promise<Answer> {
  const hold = await ownHere(ports, conversation);
  if (!hold.ok) return hold;
  try {
    return doneIf(await act());
  } finally {
    hold.value.dispose();
  }
}

/** `requested` resolves once a new `chat_request` is in the log. */
function untilRequested(
  { earshot }: PluginPorts,
  conversation: string,
): Disposable & { readonly requested: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listening = earshot.onDidChange(({ conversation: id, folded }) => {
    if (id === conversation && folded?.event.type === 'chat_request') resolve();
  });
  return { requested: promise, dispose: () => listening.dispose() };
}
