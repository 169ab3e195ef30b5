// The `@` and `/` pickers of the composer and files dropped on it: messages of the page and answers of the host.
import * as z from 'zod';

export const TRIGGERS = ['@', '/'] as const;
export type Trigger = (typeof TRIGGERS)[number];

export const completionsMessages = [
  /** Attaches or runs the chosen entry. */
  z.strictObject({ type: z.literal('choose_completion'), source: z.string().max(100), id: z.string().max(5000) }),
  /** Files dropped on the composer. */
  z.strictObject({ type: z.literal('attach_uris'), uris: z.array(z.string().max(5000)).min(1).max(20) }),
] as const;

export interface CompletionView {
  /** The source that offers it. */
  readonly source: string;
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: 'file' | 'list-tree' | 'search' | 'edit' | 'warning' | 'terminal' | 'diff' | 'tools' | 'play';
  /** What follows `@` in the message; default: the label. */
  readonly mention?: string;
  /** Replaces the typed text. If absent, the host acts, and the typed text becomes a mention or, after `/`, is removed. */
  readonly insert?: string;
}

export interface CompletionsMessage {
  readonly type: 'completions';
  readonly trigger: Trigger;
  readonly query: string;
  readonly items: readonly CompletionView[];
}
