// Renders the diffs of a call by file, highlighted, shortened until expanded.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { DiffHunk, FileDiff } from '../../../protocol/page/diffView.ts';
import { memo } from '../../memo.ts';
import { strings } from '../../strings/strings.ts';
import { transcriptStrings as ofTranscript } from '../../strings/transcriptStrings.ts';
import { useActions } from '../actions.ts';
import { Icon, IconButton } from '../icons.tsx';
import { drawColoured, useLanguage } from '../markdown/code.tsx';
import { visibleText } from '../visibleText.ts';
import { colouredLines, languageOf } from './diffColours.ts';

/** Lines shown until the diff is expanded. */
const SHORT = 24;

interface Line {
  readonly sign: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly content: ComponentChildren;
}

interface Properties {
  readonly files: readonly FileDiff[];
  /** Shows all lines, because the user has to approve them. */
  readonly whole?: boolean;
  /** The call that made the changes; absent: they are not made yet. */
  readonly call?: string;
}

export const Diffs = memo(function Diffs({ files, whole = false, call }: Properties) {
  return (
    <div class="diffs">
      {files.map((file) => (
        <FileChange key={file.path} file={file} whole={whole} call={call} />
      ))}
    </div>
  );
});

interface ChangeProperties {
  readonly file: FileDiff;
  readonly whole: boolean;
  readonly call: string | undefined;
}

function FileChange({ file, whole, call }: ChangeProperties) {
  const actions = useActions();
  const [wanted, setWanted] = useState(false);
  const all = whole || wanted;
  const path = visibleText(file.path);
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const label = strings.diffLabel(path, file.added, file.removed);
  const first = file.hunks[0]?.newStart;
  const open = () =>
    actions.post({ type: 'open_file', path: file.path, ...(first !== undefined && first > 0 && { line: first }) });
  return (
    <figure class="diff" aria-label={label}>
      <figcaption class="diff-head">
        <button
          type="button"
          class="diff-path"
          title={strings.openFile}
          disabled={file.kind === 'deleted' || !actions.offers('open_file')}
          onClick={open}
        >
          {file.from === undefined ? path : `${visibleText(file.from)} → ${path}`}
        </button>
        {file.kind !== 'changed' && <span class="diff-kind">{strings.diffKinds[file.kind]}</span>}
        <Counts added={file.added} removed={file.removed} />
        {call !== undefined && file.kind !== 'moved' && actions.offers('open_diff') && (
          <IconButton
            icon="diff"
            label={`${ofTranscript.openDiff}: ${path}`}
            title={ofTranscript.openDiff}
            run={() => actions.post({ type: 'open_diff', call, path: file.path })}
          />
        )}
      </figcaption>
      {file.note !== undefined && <p class="quiet diff-note">{describeNote(file, file.note)}</p>}
      {lines > 0 && (
        <div class="diff-lines" tabIndex={0} role="group" aria-label={label}>
          <Hunks path={file.path} hunks={all ? file.hunks : shortened(file.hunks)} />
        </div>
      )}
      {((lines > SHORT && !whole) || file.cut !== undefined) && (
        <p class="diff-more">
          {lines > SHORT && !whole && (
            <button type="button" class="fold" aria-expanded={all} onClick={() => setWanted(!wanted)}>
              <Icon name={all ? 'chevron-down' : 'chevron-right'} />
              {all ? strings.diffLess : strings.diffMore(lines - SHORT)}
            </button>
          )}
          {file.cut !== undefined && <span class="quiet">{strings.diffCut(file.cut)}</span>}
        </p>
      )}
    </figure>
  );
}

function describeNote({ sizes }: FileDiff, note: NonNullable<FileDiff['note']>): string {
  const size = sizes === undefined ? '' : strings.diffSizes(sizes.before, sizes.after);
  return [strings.diffNotes[note], size].filter((text) => text !== '').join(' ');
}

export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  if (added + removed === 0) return null;
  return (
    <span class="diff-counts">
      <span class="hidden">{strings.diffCounts(added, removed)}</span>
      <span class="diff-added-count" aria-hidden="true">
        +{added}
      </span>
      <span class="diff-removed-count" aria-hidden="true">
        −{removed}
      </span>
    </span>
  );
}

function shortened(hunks: readonly DiffHunk[]): DiffHunk[] {
  let left = SHORT;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, left);
    left -= lines.length;
    return lines.length === 0 ? [] : [{ ...hunk, lines }];
  });
}

function Hunks({ path, hunks }: { readonly path: string; readonly hunks: readonly DiffHunk[] }) {
  const language = languageOf(path);
  const ready = useLanguage(language, hunks[0]?.lines.join('\n') ?? '');
  const drawn = useMemo(
    () => hunks.map((hunk) => numbered(hunk, ready ? language : undefined)),
    [hunks, language, ready],
  );
  return drawn.map((lines, index) => (
    <div key={index} class="diff-hunk">
      {lines.map(({ sign, before, after, content }, number) => (
        <div key={number} class={`diff-line ${KINDS[sign] ?? ''}`}>
          {hunks[index]?.newStart !== 0 && <LineNumbers before={before} after={after} />}
          <span class="diff-sign">{sign === '-' ? '−' : sign}</span>
          <code>{content}</code>
        </div>
      ))}
    </div>
  ));
}

interface Numbers {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

function LineNumbers({ before, after }: Numbers) {
  return (
    <>
      <span class="diff-number" aria-hidden="true">
        {before}
      </span>
      <span class="diff-number" aria-hidden="true">
        {after}
      </span>
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = { '+': 'diff-added', '-': 'diff-removed', '\\': 'diff-remark' };

/** `language`: undefined: without colours. */
function numbered(hunk: DiffHunk, language: string | undefined): Line[] {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  const contents = language === undefined ? undefined : colouredLines(hunk.lines, language);
  return hunk.lines.map((line, index) => {
    const sign = line.slice(0, 1);
    const coloured = contents?.[index];
    const content = coloured === undefined ? visibleText(line.slice(1)) : coloured.map(drawColoured);
    return {
      sign,
      content,
      before: sign === '+' || sign === '\\' || hunk.oldStart === 0 ? undefined : before++,
      after: sign === '-' || sign === '\\' || hunk.newStart === 0 ? undefined : after++,
    };
  });
}
