// What the overview beside the Notifications view shows, and the messages of its page.
import * as z from 'zod';
import { levelSchema } from '../notification.ts';
import { muteSchema } from './pendingView.ts';

const count = z.int().min(0);

/** What the model did about the delivered notifications of one kind. */
export const kindUseSchema = z.strictObject({
  source: z.string(),
  name: z.string(),
  /** Shown with their text. Merged and counted ones are not included. */
  delivered: count,
  /** Of their texts, estimated. */
  tokens: count,
  /** Delivered ones after which the model was called. The numbers below are of these. */
  followed: count,
  /** After how many the model's next two cycles touched the subject in any of the four ways. */
  used: count,
  read: count,
  edited: count,
  ran: count,
  answered: count,
  /** After how many an edit of such a file was refused because the model did not know its present state. */
  refused: count,
});
export type KindUse = z.infer<typeof kindUseSchema>;

/** One kind in the table. */
export interface KindRow extends KindUse {
  /** In the user's language. */
  readonly label: string;
  readonly sourceLabel: string;
  /** `muted`: by the settings; `undo`: less than a week ago, so that it can be undone here. */
  readonly state: 'on' | 'muted' | 'undo';
  /** Never used; muting is offered. */
  readonly offersMute: boolean;
}

export interface UseTable {
  readonly scope: UseScope;
  /** From how many conversations. */
  readonly conversations: number;
  /** Most tokens first. */
  readonly kinds: readonly KindRow[];
}

export type UseScope = 'conversation' | 'all';

const LANES = ['you', 'agent', 'outside'] as const;
export type Lane = (typeof LANES)[number];

/** Something that happened; times are milliseconds since 1970. */
export const timelineItemSchema = z.strictObject({
  /** Counts from 0 in a conversation. */
  id: count,
  lane: z.enum(LANES),
  type: z.enum(['message', 'edit', 'decision', 'cycle', 'call', 'change', 'build', 'problem', 'server', 'agent']),
  at: z.number(),
  /** Its end; absent: it is a moment, or a call that is running. */
  until: z.number().optional(),
  /** What was written, the subject of a notification, the name of a tool or model, or what was decided. */
  text: z.string(),
  /** The label of a notification: English, the key of its translation. */
  label: z.string().optional(),
  level: levelSchema.optional(),
  /** Of a notification. */
  state: z.enum(['pending', 'delivered', 'filtered', 'withdrawn']).optional(),
  /** The cycle whose request carried the notification. */
  carrier: count.optional(),
  failed: z.literal(true).optional(),
  /** The item of the transcript that shows it. */
  item: z.string().optional(),
});
export type TimelineItem = z.infer<typeof timelineItemSchema>;
export type TimelineType = TimelineItem['type'];

export const fromOverviewSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('show_timeline') }),
  z.strictObject({ type: z.literal('show_use'), scope: z.enum(['conversation', 'all']) }),
  z.strictObject({ type: z.literal('mute'), mute: muteSchema }),
  z.strictObject({ type: z.literal('unmute'), mute: muteSchema }),
  z.strictObject({ type: z.literal('export_use') }),
  /** Shows the item in the chat. */
  z.strictObject({ type: z.literal('open_item'), item: z.string().max(500) }),
  /** Shows the request that produced the item. */
  z.strictObject({ type: z.literal('show_request'), item: z.string().max(500) }),
  z.strictObject({ type: z.literal('failed'), message: z.string().max(10_000) }),
]);
export type FromOverview = z.infer<typeof fromOverviewSchema>;

export type ToOverview =
  /** Null: no conversation is shown. */
  | { readonly type: 'use'; readonly table: UseTable | null }
  /**
   * New and changed items of the shown conversation, in parts. `whole`: they replace all before. Null: no conversation is
   * shown.
   */
  | { readonly type: 'timeline'; readonly whole: boolean; readonly items: readonly TimelineItem[] | null };
