// What the models behind the Messages API accept: system messages, thinking, effort, limits. Pure.
import { type BetaThinkingConfigParam } from '@anthropic-ai/sdk/resources/beta/messages';
import { type Effort } from '../../protocol/settings.ts';

export interface MessagesModelFacts {
  /** System messages inside the conversation. */
  readonly systemMessages: boolean;
  /**
   * `always`: adaptive, cannot be switched off; `between_tools`: adaptive, can be limited; `adaptive`: can be switched
   * off; `budget`: a number of tokens; `unknown`: only sent if the user chooses an effort; `none`: refused.
   */
  readonly thinking: 'always' | 'between_tools' | 'adaptive' | 'budget' | 'unknown' | 'none';
  /** Values of `output_config.effort`. */
  readonly efforts: readonly Effort[];
  /** A system message may change the effort, so that the cached messages stay valid. */
  readonly messageEffort: boolean;
  /** Thinking is bound to everything before it. */
  readonly binding: boolean;
  /** Tools that results refer to need not be in the prefix. */
  readonly toolReferences: boolean;
  readonly temperature: boolean;
  readonly maxTokens: number;
  readonly isClaude: boolean;
}

const NAME = /claude-(?:(\d+)(?:[-.](\d))?-)?(opus|sonnet|haiku|fable|mythos)(?:-(\d{1,2})(?!\d)(?:[-.](\d)(?!\d))?)?/i;

/** The version as one number: 48 for 4.8. */
function versionOf(model: string): { readonly family: string; readonly version: number } | undefined {
  const match = NAME.exec(model);
  if (match === null) return undefined;
  const [, oldMajor, oldMinor, family = '', major = oldMajor, minor = oldMinor] = match;
  // A name without a version is an alias of the newest.
  return { family: family.toLowerCase(), version: major === undefined ? 55 : Number(major) * 10 + Number(minor ?? 0) };
}

const OTHERS: MessagesModelFacts = {
  systemMessages: false,
  thinking: 'unknown',
  efforts: [],
  messageEffort: false,
  binding: false,
  toolReferences: false,
  temperature: true,
  maxTokens: 32_000,
  isClaude: false,
};

export function modelFacts(model: string): MessagesModelFacts {
  const known = versionOf(model);
  if (known === undefined) return OTHERS;
  const { family, version } = known;
  const isFable = family === 'fable' || family === 'mythos';
  return {
    systemMessages: version >= (isFable ? 50 : family === 'opus' ? 48 : 55),
    thinking: thinkingOf(version, isFable),
    efforts:
      version >= 47
        ? ['low', 'medium', 'high', 'xhigh', 'max']
        : version === 46
          ? ['low', 'medium', 'high', 'max']
          : [],
    messageEffort: version >= (isFable ? 51 : family === 'opus' ? 50 : 55),
    binding: version >= (isFable ? 51 : 55),
    toolReferences: version >= 45,
    temperature: version <= 46,
    maxTokens: version >= 46 ? 64_000 : version >= 37 ? 32_000 : version >= 35 ? 8192 : 4096,
    isClaude: true,
  };
}

function thinkingOf(version: number, isFable: boolean): MessagesModelFacts['thinking'] {
  if (isFable) return 'always';
  if (version >= 55) return 'between_tools';
  if (version >= 46) return 'adaptive';
  return version >= 37 ? 'budget' : 'none';
}

/** Tokens of thinking for models that are given a number. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 16_000,
  xhigh: 24_000,
  max: 32_000,
};
const LEAST_BUDGET = 1024;

export type ClaudeEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface Thinking {
  readonly thinking?: BetaThinkingConfigParam;
  readonly effort?: ClaudeEffort;
}

/** `bound`: the endpoint knows what to do with thinking whose prefix has changed. */
export function thinkingFor(
  facts: MessagesModelFacts,
  effort: Effort | undefined,
  { maxTokens, bound }: { readonly maxTokens: number; readonly bound: boolean },
): Thinking {
  const adaptive = {
    type: 'adaptive' as const,
    display: 'summarized' as const,
    ...(bound && { block_binding: { prefix_mismatch_behavior: 'drop_block' as const } }),
  };
  switch (facts.thinking) {
    case 'none':
      return {};
    case 'always':
      return { thinking: adaptive, ...effortOf(facts, effort === 'none' ? 'low' : effort) };
    case 'between_tools':
      return effort === 'none'
        ? { thinking: { type: 'between_tools' } }
        : { thinking: adaptive, ...effortOf(facts, effort) };
    case 'adaptive':
      return effort === 'none'
        ? { thinking: { type: 'disabled' } }
        : { thinking: adaptive, ...effortOf(facts, effort) };
    case 'unknown':
      return effort === undefined ? {} : budget(effort, maxTokens);
    case 'budget':
      return budget(effort ?? 'medium', maxTokens);
  }
}

/** The nearest effort that the model knows. */
function effortOf({ efforts }: MessagesModelFacts, effort: Effort | undefined): Pick<Thinking, 'effort'> {
  if (effort === undefined || effort === 'none') return {};
  const near = effort === 'minimal' ? 'low' : effort;
  return { effort: near === 'xhigh' && !efforts.includes('xhigh') ? 'high' : near };
}

function budget(effort: Effort, maxTokens: number): Thinking {
  // The budget is part of the limit of the answer, which must be larger.
  const tokens = Math.min(BUDGETS[effort], maxTokens - LEAST_BUDGET);
  return { thinking: tokens < LEAST_BUDGET ? { type: 'disabled' } : { type: 'enabled', budget_tokens: tokens } };
}
