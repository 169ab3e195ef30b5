// Explains failed requests to models of VS Code: what is wrong, the next step, and whether a retry may succeed.
import * as vscode from 'vscode';
import { type Failure } from '../../base/errors.ts';
import { CONTEXT_OVERFLOW, type ModelPart } from '../../core/ports/ports.ts';
import { explainBroken } from '../../models/explain.ts';
import { isOverflow } from '../../models/overflow.ts';

type FailedPart = Extract<ModelPart, { type: 'failed' }>;

const ANOTHER = 'or choose another model with Earshot: Choose Model.';

/** `label` is the model's display name; `characters` is the length of the answer that had arrived. */
export function explainLanguageModel(error: unknown, label: string, characters: number): FailedPart {
  const reason = errorText(error);
  switch (error instanceof vscode.LanguageModelError ? error.code : '') {
    case vscode.LanguageModelError.NoPermissions.name:
      return failed({
        code: 'no_permission',
        message: `You have not allowed Earshot to use ${label} (${reason}).`,
        nextStep: `Send again and allow it, allow it in the Accounts menu under Manage Language Model Access, ${ANOTHER}`,
      });
    case vscode.LanguageModelError.NotFound.name:
      return modelGone(label);
    case vscode.LanguageModelError.Blocked.name:
      return QUOTA.test(reason) ? noQuota(label, reason) : refused(label, reason);
    default:
      return explainByText(label, reason, characters);
  }
}

export function modelGone(label: string): FailedPart {
  return failed({
    code: 'model_gone',
    message: `The model ${label} is not available in VS Code.`,
    nextStep: 'Sign in or enable the extension that provides it, or choose another with Earshot: Choose Model.',
  });
}

const QUOTA = /quota|allowance|premium request|limit (exceeded|reached)/i;
const RATE = /rate.?limit|too many requests|\b429\b/i;
const REFUSED = /filter|off.?topic|content.?policy|responsible ai|not allowed to answer/i;
const NETWORK = /ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|fetch failed|network|net::|socket hang up|\b50[234]\b/i;

/** VS Code passes on only the text of a provider's error. */
function explainByText(label: string, reason: string, characters: number): FailedPart {
  if (isOverflow(reason)) {
    return failed({
      code: CONTEXT_OVERFLOW,
      message: `The conversation is longer than ${label} can read (${reason}).`,
      nextStep: 'Start a new chat, or choose a model with a larger context window.',
    });
  }
  if (RATE.test(reason)) {
    const failure = { code: 'rate_limited', message: `${label} is limiting the request rate (${reason}).` } as const;
    return { ...failed({ ...failure, nextStep: 'Wait a moment, then send again.' }), retry: {} };
  }
  if (QUOTA.test(reason)) return noQuota(label, reason);
  if (REFUSED.test(reason)) return refused(label, reason);
  const nextStep = `Send again, ${ANOTHER}`;
  if (NETWORK.test(reason)) {
    if (characters > 0) return explainBroken(label, characters, reason);
    return {
      ...failed({ code: 'unreachable', message: `${label} cannot be reached (${reason}).`, nextStep }),
      retry: {},
    };
  }
  return failed({ code: 'refused', message: `${label} failed (${reason}).`, nextStep });
}

function noQuota(label: string, reason: string): FailedPart {
  return failed({
    code: 'no_quota',
    message: `Your quota for ${label} is used up (${reason}).`,
    nextStep: `Check your plan with the provider, wait until the quota is renewed, ${ANOTHER}`,
  });
}

function refused(label: string, reason: string): FailedPart {
  return failed({
    code: 'refused',
    message: `${label} refused the request (${reason}).`,
    nextStep: `Rephrase the request, ${ANOTHER}`,
  });
}

function failed(failure: Failure): FailedPart {
  return { type: 'failed', failure };
}

/** The innermost cause is the most specific. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? errorText(error.cause) : error.message || error.name;
}
