// What a request for approval shows besides the call, as it travels to plugins, the web chat and joined editors.
import { isObject } from '../base/json/outsideJson.ts';
import { type CallPreview } from './page/diffView.ts';
import { TEXT_SOURCES, type TextOrigin } from './page/textOrigin.ts';
import { type TaskView } from './page/taskView.ts';
import { ALWAYS_SCOPES, type ApprovalView } from './transcript.ts';

const TEXTS = ['reason', 'note', 'problem'] as const;

/** The details of a request as fields of an event. */
export function writeApprovalDetails(view: ApprovalView): Readonly<Record<string, unknown>> {
  const { reason, note, problem, preview, task, revision, origins, always, alwaysServer } = view;
  const offered = always && { covers: always, ...(alwaysServer && { server: alwaysServer }), scopes: ALWAYS_SCOPES };
  const fields = { reason, note, problem, preview, task, revision, origins, always: offered };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Only the details of an event. Fields that are not valid are left out. */
export function readApprovalDetails(data: Readonly<Record<string, unknown>>): ApprovalView {
  const { preview, task, revision, origins, always } = data;
  const texts = TEXTS.flatMap((name) => (typeof data[name] === 'string' ? [[name, data[name]] as const] : []));
  const { covers, server } = isObject(always) ? always : {};
  return {
    ...Object.fromEntries(texts),
    ...(isObject(preview) && Array.isArray(preview['files']) && { preview: preview as unknown as CallPreview }),
    ...(isTaskView(task) && { task }),
    ...(Array.isArray(origins) && origins.every(isOrigin) && { origins }),
    ...(typeof revision === 'number' && { revision }),
    ...(typeof covers === 'string' && { always: covers }),
    ...(typeof covers === 'string' && typeof server === 'string' && { alwaysServer: server }),
  };
}

function isTaskView(value: unknown): value is TaskView {
  if (!isObject(value)) return false;
  const { name, facts, before } = value;
  return typeof name === 'string' && Array.isArray(facts) && Array.isArray(before) && before.every(isTaskView);
}

function isOrigin(value: unknown): value is TextOrigin {
  if (!isObject(value) || !isObject(value['source'])) return false;
  const { text, item, source } = value;
  const isPlace = TEXT_SOURCES.some((type) => type === source['type']) && typeof source['name'] === 'string';
  return typeof text === 'string' && typeof item === 'string' && isPlace;
}
