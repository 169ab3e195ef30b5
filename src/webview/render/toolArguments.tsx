// Shows the arguments of a tool call in full as labelled fields, with invisible characters made visible. Of a call that
// is still being written, the newest part is shown.
import { TODO_TOOL } from '../../base/toolLabels.ts';
import type { FileDiff } from '../../protocol/page/diffView.ts';
import { argumentDiff } from '../argumentDiff.ts';
import { useLoaded } from '../loaded.ts';
import { argumentLabel, argumentStrings } from '../strings/argumentStrings.ts';
import { strings } from '../strings/strings.ts';
import { commandOf, isKnownTool, toolLabel } from '../toolTitle.ts';
import { Diffs } from './diff/diff.tsx';
import { linkPath } from './pathLinks.tsx';
import { TodoItems, todoItemsIn } from './todo.tsx';
import { visibleText } from './visibleText.ts';

const LONGEST_ON_ONE_LINE = 60;
/** Values nested more deeply are shown as JSON. */
const DEEPEST = 3;
/** Entries and lines shown of a call that is being written. */
const NEWEST_ENTRIES = 6;
const NEWEST_LINES = 16;

type Values = Readonly<Record<string, unknown>>;

interface Properties {
  readonly name: string;
  readonly values: Values;
  readonly writing?: boolean;
}

export function ToolArguments({ name, values, writing = false }: Properties) {
  const diff = argumentDiff(name, writing ? newestEdits(values) : values);
  if (diff !== undefined) return writing ? <Diffs files={newestLines(diff)} whole /> : <Changes files={diff} />;
  const todo = name === TODO_TOOL ? todoItemsIn(values) : undefined;
  if (todo !== undefined) return <TodoItems items={todo} />;
  const command = commandOf(name, values);
  const rest = Object.entries(values).filter(([key]) => command === undefined || key !== 'command');
  const hasHidden = hasHiddenCharacters([command ?? '', ...rest], 0);
  return (
    <div class="arguments">
      {command !== undefined && (
        <pre class="command" tabIndex={0} role="group" aria-label={strings.command}>
          {visibleText(command)}
        </pre>
      )}
      {rest.length > 0 && (
        <Fields tool={name} values={Object.fromEntries(rest)} depth={1} writing={writing} label={strings.arguments} />
      )}
      {command === undefined && rest.length === 0 && !writing && <p class="quiet">{strings.noArguments}</p>}
      {hasHidden && <p class="quiet">{strings.hiddenCharacters}</p>}
    </div>
  );
}

interface FieldsProperties {
  readonly tool: string;
  readonly values: Values;
  readonly depth: number;
  readonly writing: boolean;
  readonly label?: string;
}

function Fields({ tool, values, depth, writing, label }: FieldsProperties) {
  return (
    <dl {...(label !== undefined && { 'aria-label': label })}>
      {Object.entries(values).map(([key, value]) => {
        const isPlain = typeof value !== 'object' || value === null;
        const text = isPlain ? printValue(key, value) : '';
        const isLong = isPlain ? text.length > LONGEST_ON_ONE_LINE || text.includes('\n') : true;
        return (
          <div class={`argument${isLong ? ' long' : ''}${isPlain ? '' : ' nested'}`} key={key}>
            <dt title={visibleText(key)}>{visibleText(argumentLabel(tool, key, isKnownTool(tool)))}</dt>
            <dd>
              {isPlain ? (
                linkPath(visibleText(text))
              ) : (
                <Nested tool={tool} name={key} value={value} depth={depth} writing={writing} />
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

interface NestedProperties extends Omit<FieldsProperties, 'values' | 'label'> {
  /** The argument that has the value. */
  readonly name: string;
  readonly value: object;
}

function Nested({ tool, name, value, depth, writing }: NestedProperties) {
  const isCondition = name === 'when' && depth === 1 && isKnownTool(tool);
  const loaded = useLoaded(isCondition, () => import('../panel/condition.tsx'));
  if (isCondition && !loaded) return null;
  if (loaded?.isCondition(value)) return <loaded.ConditionParts part={value} />;
  if (isCondition || depth > DEEPEST) return <>{visibleText(JSON.stringify(value, null, 2))}</>;
  if (!Array.isArray(value)) return <Fields tool={tool} values={value as Values} depth={depth + 1} writing={writing} />;
  if (value.length === 0) return <>{argumentStrings.nothing}</>;
  const before = writing ? Math.max(0, value.length - NEWEST_ENTRIES) : 0;
  return (
    <ul class="argument-list">
      {before > 0 && <li class="quiet">{argumentStrings.moreBefore(before)}</li>}
      {value.slice(before).map((one: unknown, index) => (
        <li key={before + index}>
          {typeof one === 'object' && one !== null ? (
            <Nested tool={tool} name={name} value={one} depth={depth + 1} writing={writing} />
          ) : (
            linkPath(
              visibleText(name === 'tools' && isKnownTool(tool) ? toolLabel(String(one)) : printValue(name, one)),
            )
          )}
        </li>
      ))}
    </ul>
  );
}

/** Changes that need approval: shows all lines, and makes invisible characters visible. */
export function Changes({ files }: { readonly files: readonly FileDiff[] }) {
  const written = files.flatMap(({ path, from, hunks }) => [path, from ?? '', ...hunks.flatMap(({ lines }) => lines)]);
  return (
    <div class="arguments">
      <Diffs files={files} whole />
      {written.some((text) => visibleText(text) !== text) && <p class="quiet">{strings.hiddenCharacters}</p>}
    </div>
  );
}

/** An id of a message says nothing to people. */
const MESSAGE_ID = /^msg_\w*$/;

function printValue(key: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? argumentStrings.yes : argumentStrings.no;
  if (value === null || value === undefined || value === '') return argumentStrings.nothing;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (MESSAGE_ID.test(value)) return argumentStrings.earlierMessage;
  return argumentStrings.value(key, value) ?? value;
}

function hasHiddenCharacters(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return visibleText(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  if (depth > DEEPEST + 1) return hasHiddenCharacters(JSON.stringify(value), 0);
  return Object.entries(value)
    .flat()
    .some((one: unknown) => hasHiddenCharacters(one, depth + 1));
}

/** The last edits, since drawing all of them with every piece would take ever longer. */
function newestEdits(values: Values): Values {
  const { edits } = values as { readonly edits?: unknown };
  return Array.isArray(edits) ? { ...values, edits: edits.slice(-NEWEST_ENTRIES) } : values;
}

/** The last lines of the last file that the call has reached. */
function newestLines(files: readonly FileDiff[]): FileDiff[] {
  const file = files.at(-1);
  if (file === undefined) return [];
  let left = NEWEST_LINES;
  const hunks = file.hunks.toReversed().flatMap((hunk) => {
    const lines = left === 0 ? [] : hunk.lines.slice(-left);
    left -= lines.length;
    return lines.length === 0 ? [] : [{ ...hunk, lines }];
  });
  return [{ ...file, hunks: hunks.reverse() }];
}
