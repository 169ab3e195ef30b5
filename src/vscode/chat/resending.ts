// Sends an earlier request again, changed or not, in a fork of the conversation that ends before it.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { forkPoints } from '../../core/conversation/fork.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Library } from '../../core/library.ts';
import { type Store } from '../../core/ports/storage.ts';

export interface ResendingDeps {
  readonly store: Store;
  readonly library: Library;
  readonly earshot: Earshot;
  /** A new conversation is live. */
  create(): Promise<string>;
  open(id: string): Promise<void>;
}

export async function resend(
  { store, library, earshot, create, open }: ResendingDeps,
  conversation: string,
  request: string,
  text: string | undefined,
): Promise<Result<void>> {
  const read = await store.read(conversation);
  if (!read.ok) return read;
  const { events } = read.value;
  const event = events.find((one) => one.event_id === request);
  if (event?.type !== 'chat_request')
    return failed('not_found', vscode.l10n.t('This message is no longer in the log.'));
  // The turn that is replaced must not go on beside the new one.
  await earshot.stop(conversation);
  const point = forkPoints(events).find((seq) => seq < event.seq);
  let fork: string;
  if (point === undefined) fork = await create();
  else {
    const forked = await library.fork(conversation, point);
    if (!forked.ok) return forked;
    fork = forked.value;
  }
  await open(fork);
  const attachments: readonly GivenAttachment[] = event.attachments ?? [];
  const sent = await earshot.queue(fork, text ?? event.content, { attachments });
  return sent.ok ? succeeded(undefined) : sent;
}
