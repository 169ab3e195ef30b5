// The local verbs that act on a conversation's turn, its queued messages and its pending notifications.
import { type Result, failed, succeeded } from '../../../base/errors.ts';
import { type VerbParams, type VerbResult } from '../../../protocol/client/verbs.ts';
import { type MessageOptions } from '../../agent/userText.ts';
import { DISMISSED_BY } from '../../notify/queue.ts';
import { type QueuedMessage } from '../../ports/ports.ts';
import { type Caller, type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { ownHere, whileOwned, workingElsewhere } from './owning.ts';
import { type StartedTurns } from './startedTurns.ts';

type TurnVerb =
  | ('send' | 'queue' | 'interrupt' | 'stop' | 'retry' | 'resend' | 'deliver' | 'dismiss')
  | ('withdraw_queued' | 'send_queued' | 'raise_queued');

const NOTHING = succeeded({});
const NOT_RUNNING = 'No turn is running in this conversation in this window.';

export function createTurnVerbs(ports: LocalPorts, { by }: Caller, turns: StartedTurns): Pick<LocalVerbs, TurnVerb> {
  const { earshot, library } = ports;
  const messages = (conversation: string) => earshot.get(conversation)?.log.state.pending.queuedMessages ?? [];
  return {
    send: async (params) => {
      const { conversation, content, schema } = params;
      const empty = whyEmpty(params);
      if (empty !== undefined) return failed('plugin', empty);
      const options = { ...attachmentsOf(params), ...(schema && { schema }) };
      return turns.start(conversation, () => earshot.send(conversation, content, options));
    },
    queue: (params) =>
      whileRunning(ports, params, () => earshot.queue(params.conversation, params.content, attachmentsOf(params))),
    interrupt: (params) => whileRunning(ports, params, () => interruptTurn(ports, params)),
    stop: async ({ conversation }) => {
      if (earshot.get(conversation)?.running !== true) return whyNotRunning(ports, conversation);
      await earshot.stop(conversation);
      return NOTHING;
    },
    retry: ({ conversation }) => turns.start(conversation, () => earshot.retry(conversation)),
    resend: async ({ conversation, instead_of: earlier, content, attachments }) => {
      const forked = await library.forkBefore(conversation, earlier);
      if (!forked.ok) return forked;
      const { conversation: fork, request } = forked.value;
      const text = content ?? request.typed ?? request.content;
      const options = attachmentsOf({ attachments: attachments ?? request.attachments });
      return turns.start(fork, () => earshot.send(fork, text, options));
    },
    withdraw_queued: async ({ conversation, queued_id: id }) => {
      if (earshot.get(conversation)?.owned === false) return workingElsewhere();
      const withdrawn = await earshot.withdrawMessage(conversation, id);
      if (!withdrawn.ok) return withdrawn;
      const { content, typed = content, attachments } = withdrawn.value;
      return succeeded({ content: typed, ...(attachments && { attachments }) });
    },
    send_queued: async ({ conversation, queued_id: id }) => {
      const withdrawn = await earshot.withdrawMessage(conversation, id);
      if (!withdrawn.ok) return withdrawn;
      return nothingIf(await interruptTurn(ports, { conversation, ...withdrawn.value }));
    },
    raise_queued: async ({ conversation, queued_id: id }) => {
      const all = messages(conversation);
      const place = all.findIndex((one) => one.id === id);
      const [before, raised, ...after] = all.slice(Math.max(0, place - 1));
      if (place < 1 || before === undefined || raised === undefined) return NOTHING;
      const moved: QueuedMessage[] = [];
      for (const one of [raised, before, ...after]) {
        const withdrawn = await earshot.withdrawMessage(conversation, one.id);
        // A message that was delivered meanwhile cannot be withdrawn and is not queued again.
        if (withdrawn.ok) moved.push(withdrawn.value);
      }
      for (const one of moved) {
        const again = await earshot.queue(conversation, one.content, attachmentsOf(one));
        if (!again.ok) return again;
      }
      return NOTHING;
    },
    deliver: async ({ conversation }) =>
      nothingIf(await whileOwned(ports, conversation, () => earshot.deliverNow(conversation))),
    // The user's list may be out of date; a program must name what is pending.
    dismiss: async ({ conversation, notification_ids: ids }) => {
      const dismiss = (): Promise<Result<unknown>> =>
        by === 'user'
          ? earshot.dismiss(conversation, ids)
          : earshot.withdrawPending(conversation, ids, `${DISMISSED_BY}${by}`);
      return nothingIf(await whileOwned(ports, conversation, dismiss));
    },
  };
}

/** Acts while the conversation is owned here. A turn that runs in another window is not disturbed. */
async function whileRunning(
  ports: LocalPorts,
  message: VerbParams<'queue'>,
  act: () => Promise<Result<unknown>>,
): Promise<Result<VerbResult<'queue'>>> {
  const empty = whyEmpty(message);
  if (empty !== undefined) return failed('plugin', empty);
  if (ports.earshot.get(message.conversation)?.running === true) return nothingIf(await act());
  const hold = await ownHere(ports, message.conversation);
  if (!hold.ok) return hold;
  try {
    return nothingIf(await act());
  } finally {
    hold.value.dispose();
  }
}

/** Resolves once the message is the turn's next request, or has started a turn. */
async function interruptTurn(
  { earshot }: LocalPorts,
  { conversation, content, attachments }: Pick<QueuedMessage, 'content'> & VerbParams<'queue'>,
): Promise<Result<unknown>> {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  const listening = earshot.onDidChange(({ conversation: id, folded }) => {
    if (id === conversation && folded?.event.type === 'chat_request') resolve();
  });
  try {
    const sent = await earshot.interrupt(conversation, content, attachmentsOf({ attachments }));
    if (sent.ok) await Promise.race([requested, earshot.ended(conversation)]);
    return sent;
  } finally {
    listening.dispose();
  }
}

export function whyNotRunning({ earshot }: Pick<LocalPorts, 'earshot'>, conversation: string): Result<never> {
  const live = earshot.get(conversation);
  return live?.owned === false && live.log.state.turn.isOpen ? workingElsewhere() : failed('plugin', NOT_RUNNING);
}

function whyEmpty({ content, attachments = [] }: Pick<VerbParams<'queue'>, 'content' | 'attachments'>) {
  return content.trim() === '' && attachments.length === 0 ? 'content: there is nothing in it.' : undefined;
}

function attachmentsOf({ attachments }: Pick<VerbParams<'queue'>, 'attachments'>): MessageOptions {
  return attachments === undefined ? {} : { attachments };
}

function nothingIf(result: Result<unknown>): Result<VerbResult<'queue'>> {
  return result.ok ? NOTHING : result;
}
