// What a request for approval shows besides the call, as it travels to plugins, the web chat and joined editors.
import { type CallPreview } from './page/diffView.ts';
import { type TaskView } from './page/taskView.ts';
import { type ApprovalView } from './transcript.ts';

type ApprovalDetails = Pick<ApprovalView, 'reason' | 'note' | 'problem' | 'preview' | 'task'>;

const TEXTS = ['reason', 'note', 'problem'] as const;

/** Only the details of a request, or of an event that has them. Fields that are not valid are left out. */
export function approvalDetails(data: Readonly<Record<string, unknown>>): ApprovalDetails {
  const { preview, task } = data;
  const texts = TEXTS.flatMap((name) => (typeof data[name] === 'string' ? [[name, data[name]] as const] : []));
  const isPreview =
    typeof preview === 'object' && preview !== null && 'files' in preview && Array.isArray(preview.files);
  return {
    ...Object.fromEntries(texts),
    ...(isPreview && { preview: preview as CallPreview }),
    ...(isTaskView(task) && { task }),
  };
}

function isTaskView(value: unknown): value is TaskView {
  if (typeof value !== 'object' || value === null) return false;
  const { name, facts, before } = value as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && Array.isArray(facts) && Array.isArray(before) && before.every(isTaskView);
}
