// Chooses the button for the next step after a failed turn.
import { type Failure } from '../../base/errors.ts';
import { type FailureCode } from '../../base/failureCodes.ts';
import { type NoticeActionMessage } from '../../protocol/page/transcriptMessages.ts';

const ACTIONS: Readonly<Partial<Record<FailureCode, NoticeActionMessage['type']>>> = {
  key_missing: 'set_api_key',
  key_refused: 'set_api_key',
  forbidden: 'set_api_key',
  model_gone: 'choose_model',
  not_found: 'choose_model',
  no_quota: 'choose_model',
  region_refused: 'choose_model',
  no_permission: 'choose_model',
  no_stream: 'choose_model',
  answer_too_large: 'choose_model',
  context_overflow: 'choose_model',
};

/** English texts; they are the keys of the translations. */
const LABELS: Readonly<Record<NoticeActionMessage['type'], string>> = {
  retry: 'Retry now',
  set_api_key: 'Set API Key',
  choose_model: 'Choose Model',
  open_settings: 'Open Settings',
};
const CONTINUE = 'Continue';

export function failureAction({ code }: Pick<Failure, 'code'>): {
  readonly label: string;
  readonly message: NoticeActionMessage;
} {
  const type = ACTIONS[code] ?? 'retry';
  return { label: code === 'limit' ? CONTINUE : LABELS[type], message: { type } };
}
