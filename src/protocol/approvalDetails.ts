// What a request for approval shows besides the call, as it travels to plugins, the web chat and joined editors.
import { type CallPreview } from './page/diffView.ts';
import { type ApprovalView } from './transcript.ts';

type ApprovalDetails = Pick<ApprovalView, 'reason' | 'note' | 'problem' | 'preview'>;

const TEXTS = ['reason', 'note', 'problem'] as const;

/** Only the details of a request, or of an event that has them. Fields that are not valid are left out. */
export function approvalDetails(data: Readonly<Record<string, unknown>>): ApprovalDetails {
  const { preview } = data;
  const texts = TEXTS.flatMap((name) => (typeof data[name] === 'string' ? [[name, data[name]] as const] : []));
  const isPreview =
    typeof preview === 'object' && preview !== null && 'files' in preview && Array.isArray(preview.files);
  return { ...Object.fromEntries(texts), ...(isPreview && { preview: preview as CallPreview }) };
}
