// What each model of Anthropic takes, written out from its documentation (MODELS 2.1, 2.4 and 2.5) and independent of the
// table that it judges (`models/messages/claude.ts`).

export interface ClaudeRules {
  /** System messages inside the conversation. */
  readonly systemMessages: boolean;
  /** A system message may change the effort. */
  readonly messageEffort: boolean;
  /** Accepted values of `thinking.type`. */
  readonly thinking: readonly string[];
  /** Accepted values of `output_config.effort`. */
  readonly efforts: readonly string[];
  /** Thinking is bound to everything before it. */
  readonly binding: boolean;
  /** A temperature may be sent. */
  readonly temperature: boolean;
  /** `tool_choice` may force a call. */
  readonly forcedCalls: boolean;
}

const ALL = ['low', 'medium', 'high', 'xhigh', 'max'];
const recent = { temperature: false, efforts: ALL, forcedCalls: true } as const;
const fable: ClaudeRules = {
  ...{ ...recent, systemMessages: true, messageEffort: false, binding: false },
  thinking: ['adaptive'],
};
const boundFable: ClaudeRules = { ...fable, messageEffort: true, binding: true };
const generation55: ClaudeRules = {
  ...{ ...recent, systemMessages: true, messageEffort: true, binding: true, forcedCalls: false },
  thinking: ['adaptive', 'between_tools'],
};
const offUnlessAdaptive: ClaudeRules = {
  ...{ ...recent, systemMessages: false, messageEffort: false, binding: false },
  thinking: ['adaptive', 'disabled'],
};
const generation46: ClaudeRules = {
  ...{ systemMessages: false, messageEffort: false, binding: false, temperature: true, forcedCalls: true },
  thinking: ['adaptive', 'enabled', 'disabled'],
  efforts: ['low', 'medium', 'high', 'max'],
};
const generation45: ClaudeRules = { ...generation46, thinking: ['enabled', 'disabled'], efforts: [] };

const MODELS: Readonly<Record<string, ClaudeRules>> = {
  'claude-fable-5': fable,
  'claude-mythos-5': fable,
  'claude-fable-5-1': boundFable,
  'claude-mythos-5-1': boundFable,
  'claude-fable-5-2': boundFable,
  'claude-mythos-5-2': boundFable,
  'claude-opus-5-5': generation55,
  'claude-sonnet-5-5': generation55,
  'claude-haiku-5-5': generation55,
  'claude-opus-5': { ...offUnlessAdaptive, systemMessages: true, messageEffort: true },
  'claude-opus-4-8': { ...offUnlessAdaptive, systemMessages: true },
  'claude-opus-4-7': offUnlessAdaptive,
  'claude-sonnet-5': offUnlessAdaptive,
  'claude-opus-4-6': generation46,
  'claude-sonnet-4-6': generation46,
  'claude-opus-4-5': generation45,
  'claude-sonnet-4-5': generation45,
  'claude-haiku-4-5': generation45,
  'claude-opus-4-1': generation45,
};

export const CLAUDE_MODELS = Object.keys(MODELS);

/** Undefined for models of others. Throws for one of Anthropic that is not listed. */
export function claudeRules(model: string): ClaudeRules | undefined {
  if (!model.includes('claude')) return undefined;
  const rules = MODELS[model.replace(/-\d{8}$/, '')];
  if (rules === undefined) throw new Error(`the rules of ${model} are not written down`);
  return rules;
}
