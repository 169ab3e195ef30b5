// The controls below the composer (model, mode, approvals, context), and the page's messages about them.
import * as z from 'zod';
import { type RuleView } from './rulesView.ts';

export const MODES = ['agent', 'plan'] as const;
export const APPROVAL_MODES = ['ask', 'reads', 'edits', 'all'] as const;
/** How much a model reasons, from the least to the most; each model accepts some of them. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];
/** `auto`: as the model's options say, or else the endpoint. */
export const EFFORT_CHOICES = ['auto', ...EFFORTS] as const;

/** What the model is notified of about the active editor: nothing, the file's name, or the selected text too. */
export const EDITOR_CONTEXTS = ['off', 'file', 'selection'] as const;
export type EditorContext = (typeof EDITOR_CONTEXTS)[number];

/** What lists show of a choice. */
export const listedChoiceSchema = z.strictObject({
  model: z.string().optional(),
  mode: z.enum(MODES).optional(),
  approvals: z.enum(APPROVAL_MODES).optional(),
});
export type ListedChoice = z.infer<typeof listedChoiceSchema>;

/** What belongs to a conversation; absent: as the settings say. */
export interface ConversationChoice {
  /** As in the setting `earshot.model`. */
  readonly model?: string | undefined;
  readonly effort?: (typeof EFFORT_CHOICES)[number] | undefined;
  readonly mode?: (typeof MODES)[number] | undefined;
  readonly approvals?: (typeof APPROVAL_MODES)[number] | undefined;
  readonly editor?: EditorContext | undefined;
}

export const controlsMessages = [
  /** The host asks the user. */
  z.strictObject({ type: z.literal('choose_model') }),
  z.strictObject({ type: z.literal('set_api_key') }),
  /** Lists the permanent approvals, to revoke them. */
  z.strictObject({ type: z.literal('show_rules') }),
  z.strictObject({ type: z.literal('open_settings') }),
  z.strictObject({ type: z.literal('show_notifications') }),
  /** Requests the breakdown of the context; answered with `context`. */
  z.strictObject({ type: z.literal('read_context') }),
] as const;

/** A model that the page offers. */
export interface ModelChoice {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly current: boolean;
}

/** What the next request would tell about the active editor. */
export interface EditorChip {
  /** Relative to the workspace. */
  readonly path: string;
  /** The selected lines, `44` or `44–46`; absent: nothing is selected. */
  readonly lines?: string;
  readonly context: EditorContext;
}

export interface Controls {
  readonly mode: (typeof MODES)[number];
  readonly approvals: (typeof APPROVAL_MODES)[number];
  /** The levels of reasoning that the model has, and the chosen one; absent: it has none. */
  readonly effort?: { readonly levels: readonly Effort[]; readonly current: (typeof EFFORT_CHOICES)[number] };
  /** How many permanent approvals hold in the conversation besides the mode; absent: not known. */
  readonly rules?: number;
  /** Those that hold in the conversation, for the page to list and revoke; absent: the host does that. */
  readonly listedRules?: readonly RuleView[];
  readonly sendKey: 'enter' | 'modifierEnter';
  /** ISO 4217, for costs. */
  readonly currency: string;
}

/** `fixed`: the system prompt and the tools, which every request contains. */
export type ContextPart = 'fixed' | 'requests' | 'answers' | 'results' | 'notifications';

/** The contents of the next request in tokens; estimated except for the sum. */
export interface ContextView {
  readonly window: number;
  readonly used: number;
  readonly parts: readonly { readonly part: ContextPart; readonly tokens: number }[];
  /** Tokens of the whole conversation, as the endpoint counted them. */
  readonly total: { readonly input: number; readonly output: number; readonly cached: number };
  /** Written to the endpoint's cache, as part of the input. */
  readonly written: number;
  /** Used by system turns, as part of `total`. */
  readonly woken: number;
  /** What the next request would cost with another model, which has nothing of it in its cache; the cheapest first. */
  readonly switches: readonly { readonly model: string; readonly cost: number }[];
  /** Null if a used model has no prices. */
  readonly cost: number | null;
}
