// Decides what a failed request to a model of VS Code's means: what is wrong, the next step, whether it may succeed later.
import * as vscode from 'vscode';
import { type Failure } from '../../base/errors.ts';
import { CONTEXT_OVERFLOW, type ModelPart } from '../../core/ports/ports.ts';
import { explainBroken, isOverflow } from '../../models/explain.ts';

type FailedPart = Extract<ModelPart, { type: 'failed' }>;

const ANOTHER = 'or choose another model with Earshot: Choose Model.';

/** `label` is the model's name for people; `characters` of its answer had come. */
export function explainLanguageModel(error: unknown, label: string, characters: number): FailedPart {
  const said = textOf(error);
  switch (error instanceof vscode.LanguageModelError ? error.code : '') {
    case vscode.LanguageModelError.NoPermissions.name:
      return failed({
        code: 'no_permission',
        message: `You have not allowed Earshot to use ${label} (${said}).`,
        nextStep: `Send again and allow it, allow it in the Accounts menu under Manage Language Model Access, ${ANOTHER}`,
      });
    case vscode.LanguageModelError.NotFound.name:
      return modelGone(label);
    case vscode.LanguageModelError.Blocked.name:
      return QUOTA.test(said) ? noQuota(label, said) : refused(label, said);
    default:
      return byWords(label, said, characters);
  }
}

export function modelGone(label: string): FailedPart {
  return failed({
    code: 'model_gone',
    message: `VS Code has no model ${label} now.`,
    nextStep: 'Sign in or enable the extension that provides it, or choose another with Earshot: Choose Model.',
  });
}

const QUOTA = /quota|allowance|premium request|limit (exceeded|reached)/i;
const RATE = /rate.?limit|too many requests|\b429\b/i;
const REFUSED = /filter|off.?topic|content.?policy|responsible ai|not allowed to answer/i;
const NETWORK = /ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|fetch failed|network|net::|socket hang up|\b50[234]\b/i;

/** Whatever a provider throws arrives as its words alone. */
function byWords(label: string, said: string, characters: number): FailedPart {
  if (isOverflow(said)) {
    return failed({
      code: CONTEXT_OVERFLOW,
      message: `The conversation is longer than ${label} can read (${said}).`,
      nextStep: 'Start a new chat, or choose a model with a larger context window.',
    });
  }
  if (RATE.test(said)) {
    const failure = { code: 'rate_limited', message: `${label} asks to slow down (${said}).` } as const;
    return { ...failed({ ...failure, nextStep: 'Wait a little, then send again.' }), retry: {} };
  }
  if (QUOTA.test(said)) return noQuota(label, said);
  if (REFUSED.test(said)) return refused(label, said);
  const nextStep = `Send again, ${ANOTHER}`;
  if (NETWORK.test(said)) {
    if (characters > 0) return explainBroken(label, characters, said);
    return {
      ...failed({ code: 'unreachable', message: `${label} cannot be reached (${said}).`, nextStep }),
      retry: {},
    };
  }
  return failed({ code: 'refused', message: `${label} failed (${said}).`, nextStep });
}

function noQuota(label: string, said: string): FailedPart {
  return failed({
    code: 'no_quota',
    message: `Your quota for ${label} is used up (${said}).`,
    nextStep: `Check your plan with who provides it, wait until it is renewed, ${ANOTHER}`,
  });
}

function refused(label: string, said: string): FailedPart {
  return failed({
    code: 'refused',
    message: `${label} refused the request (${said}).`,
    nextStep: `Say it in other words, ${ANOTHER}`,
  });
}

function failed(failure: Failure): FailedPart {
  return { type: 'failed', failure };
}

/** The innermost reason is what helps. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? textOf(error.cause) : error.message || error.name;
}
