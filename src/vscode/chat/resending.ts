// Sends an earlier request again, changed or not, in a fork of the conversation that ends before it.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Library } from '../../core/library.ts';

export interface ResendingDeps {
  /** Translates. */
  t(text: string): string;
  readonly library: Library;
  readonly earshot: Earshot;
  open(id: string): Promise<void>;
}

export async function resend(
  { library, earshot, open, t }: ResendingDeps,
  conversation: string,
  request: string,
  text: string | undefined,
): Promise<Result<void>> {
  const forked = await library.forkBefore(conversation, request);
  if (!forked.ok) {
    const { code } = forked.failure;
    return code === 'not_found' ? failed(code, t('This message is no longer in the log.')) : forked;
  }
  const { conversation: fork, request: event } = forked.value;
  await open(fork);
  const attachments: readonly GivenAttachment[] = event.attachments ?? [];
  const sent = await earshot.queue(fork, text ?? event.content, { attachments });
  return sent.ok ? succeeded(undefined) : sent;
}
