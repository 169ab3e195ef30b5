// The page's messages that are verbs of the client, with the names and parameters of its table. Without a conversation they
// are about the shown one.
import * as z from 'zod';
import { VERBS } from '../client/verbs.ts';
import { conversationId } from './conversationsView.ts';

const conversation = conversationId.optional();

export const verbMessages = [
  /** Without `attachments` those in the composer go with it. */
  z.strictObject({ type: z.literal('queue'), ...VERBS.queue.params.shape, conversation }),
  z.strictObject({ type: z.literal('interrupt'), ...VERBS.interrupt.params.shape, conversation }),
  z.strictObject({ type: z.literal('stop'), ...VERBS.stop.params.shape, conversation }),
  z.strictObject({ type: z.literal('retry'), ...VERBS.retry.params.shape, conversation }),
  z.strictObject({ type: z.literal('resend'), ...VERBS.resend.params.shape, conversation }),
  /** The message returns to the composer. */
  z.strictObject({ type: z.literal('withdraw_queued'), ...VERBS.withdraw_queued.params.shape, conversation }),
  z.strictObject({ type: z.literal('send_queued'), ...VERBS.send_queued.params.shape, conversation }),
  z.strictObject({ type: z.literal('raise_queued'), ...VERBS.raise_queued.params.shape, conversation }),
  /** Answered with `conversations`. A query searches titles, then the texts of the conversations. */
  z.strictObject({
    type: z.literal('list_conversations'),
    ...VERBS.list_conversations.params.shape,
    query: z.string().max(1000),
  }),
  z.strictObject({ type: z.literal('rename'), ...VERBS.rename.params.shape, conversation }),
  /** Shows the fork. */
  z.strictObject({ type: z.literal('fork'), ...VERBS.fork.params.shape, conversation }),
  /** Without a format the host asks for it. */
  z.strictObject({
    type: z.literal('export'),
    ...VERBS.export.params.shape,
    conversation,
    format: VERBS.export.params.shape.format.optional(),
  }),
  z.strictObject({ type: z.literal('delete'), ...VERBS.delete.params.shape, conversation }),
  z.strictObject({ type: z.literal('approve'), ...VERBS.approve.params.shape, conversation }),
  z.strictObject({ type: z.literal('answer'), ...VERBS.answer.params.shape }),
  z.strictObject({ type: z.literal('deliver'), ...VERBS.deliver.params.shape, conversation }),
  z.strictObject({ type: z.literal('dismiss'), ...VERBS.dismiss.params.shape, conversation }),
  z.strictObject({ type: z.literal('mute'), ...VERBS.mute.params.shape }),
  /** Without a conversation it is a rule of the folder. */
  z.strictObject({ type: z.literal('remove_rule'), ...VERBS.remove_rule.params.shape }),
  z.strictObject({ type: z.literal('choose'), ...VERBS.choose.params.shape, conversation }),
  /** Answered with `models` of the head. */
  z.strictObject({ type: z.literal('list_models'), ...VERBS.list_models.params.shape }),
  z.strictObject({ type: z.literal('keep'), ...VERBS.keep.params.shape, conversation }),
  z.strictObject({ type: z.literal('undo'), ...VERBS.undo.params.shape, conversation }),
  z.strictObject({ type: z.literal('restore'), ...VERBS.restore.params.shape, conversation }),
  z.strictObject({ type: z.literal('revert'), ...VERBS.revert.params.shape, conversation }),
  z.strictObject({ type: z.literal('fire_due'), ...VERBS.fire_due.params.shape, conversation }),
  z.strictObject({ type: z.literal('cancel_due'), ...VERBS.cancel_due.params.shape, conversation }),
  z.strictObject({ type: z.literal('stop_command'), ...VERBS.stop_command.params.shape, conversation }),
  z.strictObject({ type: z.literal('move_to_background'), ...VERBS.move_to_background.params.shape, conversation }),
  z.strictObject({
    type: z.literal('attach'),
    ...VERBS.attach.params.shape,
    name: z.string().max(300),
    /** A thumbnail for the page. */
    preview: z
      .string()
      .max(60_000)
      .regex(/^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/=]*$/)
      .optional(),
  }),
  /** Answered with `media`. */
  z.strictObject({ type: z.literal('read_media'), ...VERBS.read_media.params.shape, conversation }),
  /** Answered with `diff`. */
  z.strictObject({ type: z.literal('read_diff'), ...VERBS.read_diff.params.shape, conversation }),
  /** Answered with `freshness`. */
  z.strictObject({ type: z.literal('read_freshness'), ...VERBS.read_freshness.params.shape, conversation }),
  z.strictObject({ type: z.literal('update_files'), ...VERBS.update_files.params.shape, conversation }),
  /** Answered with `completions`. */
  z.strictObject({ type: z.literal('complete'), ...VERBS.complete.params.shape }),
] as const;
