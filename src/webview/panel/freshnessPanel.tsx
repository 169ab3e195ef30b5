// The list that the ring opens: each file that the model knows, what it has of it, and how it differs from the file now.
import { useEffect, useRef } from 'preact/hooks';
import type { FileFreshness, FreshnessCounts } from '../../protocol/page/freshnessView.ts';
import { useActions } from '../render/actions.ts';
import type { PageState } from '../state.ts';
import { visibleText } from '../render/visibleText.ts';
import { freshnessStrings as strings } from '../strings/freshnessStrings.ts';
import { formatMoment } from '../strings/moments.ts';
import { Popover } from './popover.tsx';

interface Properties {
  readonly counts: FreshnessCounts;
  readonly comparison: PageState['freshness'];
  readonly close: () => void;
}

/** The comparison takes at most a twentieth of the time. */
const SHARE = 20;
const LEAST_PAUSE = 5000;

export function FreshnessPanel({ counts, comparison, close }: Properties) {
  const { post } = useActions();
  const began = useRef(0);
  const compare = () => {
    began.current = performance.now();
    post({ type: 'read_freshness' });
  };
  // Compared again whenever the log has changed what is known, and from time to time: nobody may report a change.
  const known = Object.values(counts).join();
  useEffect(compare, [known]);
  useEffect(() => {
    if (comparison === undefined) return undefined;
    const timer = setTimeout(compare, Math.max(LEAST_PAUSE, SHARE * (performance.now() - began.current)));
    return () => clearTimeout(timer);
  }, [comparison]);
  return (
    <Popover label={strings.heading} opener=".freshness" close={close}>
      {comparison === undefined ? <p class="quiet">{strings.loading}</p> : <Files {...comparison} />}
    </Popover>
  );
}

/** The most recently shown first. */
function Files({ files, older = 0 }: { readonly files: readonly FileFreshness[]; readonly older?: number }) {
  const { post, followed } = useActions();
  const newest = [...files].reverse();
  const forgotten = newest.filter(({ state }) => state === 'forgotten');
  const current = newest.filter(isCurrent);
  const others = newest.filter((file) => !isCurrent(file) && file.state !== 'forgotten');
  const total = current.length + others.length;
  return (
    <>
      <p role="status">
        {total === 0
          ? strings.none
          : others.length === 0
            ? strings.allCurrent(total)
            : strings.behind(others.length, total)}
      </p>
      {!followed && others.filter(({ updatable }) => updatable).length > 1 && (
        <button type="button" class="link" title={strings.updateTitle} onClick={() => post({ type: 'update_files' })}>
          {strings.updateAll}
        </button>
      )}
      {others.length > 0 && <Rows files={others} />}
      <Folded label={strings.current(current.length)} files={current} />
      <Folded label={strings.forgotten(forgotten.length)} files={forgotten} />
      {older > 0 && <p class="quiet small">{strings.older(older)}</p>}
      <p class="quiet small">{strings.explained}</p>
    </>
  );
}

function isCurrent({ state }: FileFreshness): boolean {
  return state === 'current' || state === 'reported';
}

function Folded({ label, files }: { readonly label: string; readonly files: readonly FileFreshness[] }) {
  if (files.length === 0) return null;
  return (
    <details>
      <summary>{label}</summary>
      <Rows files={files} />
    </details>
  );
}

function Rows({ files }: { readonly files: readonly FileFreshness[] }) {
  return (
    <ul class="freshness-files">
      {files.map((file) => (
        <Row key={file.path} file={file} />
      ))}
    </ul>
  );
}

function Row({ file }: { readonly file: FileFreshness }) {
  const { post, offers, followed } = useActions();
  const { path, state, lines, at, updatable, reason } = file;
  const name = visibleText(path);
  const differs = !isCurrent(file) && state !== 'forgotten';
  return (
    <li class={`freshness-file freshness-${state}`}>
      {offers('open_file') && state !== 'deleted' ? (
        <button type="button" class="link path-link" title={name} onClick={() => post({ type: 'open_file', path })}>
          {name}
        </button>
      ) : (
        <span class="freshness-path">{name}</span>
      )}
      <span class="freshness-state" title={reason === undefined ? '' : visibleText(reason)}>
        {describeState(file)}
      </span>
      <span class="quiet small">{strings.has(lines, formatMoment(at))}</span>
      <span class="freshness-actions">
        {offers('open_known_difference') && differs && state !== 'withheld' && (
          <button
            type="button"
            class="link"
            aria-label={strings.showDifferenceOf(name)}
            onClick={() => post({ type: 'open_known_difference', path })}
          >
            {strings.showDifference}
          </button>
        )}
        {updatable === true && !followed && (
          <button
            type="button"
            class="link"
            title={strings.updateTitle}
            aria-label={strings.updateOf(name)}
            onClick={() => post({ type: 'update_files', paths: [path] })}
          >
            {strings.update}
          </button>
        )}
      </span>
    </li>
  );
}

/** `Deleted · not reported` */
function describeState({ state, notified, unsaved, moved_to: to }: FileFreshness): string {
  return [
    to === undefined ? strings.states[state] : strings.renamed(visibleText(to)),
    ...(state === 'deleted' ? [strings.deletedReport[notified]] : []),
    ...(unsaved === true ? [strings.unsaved] : []),
  ].join(' · ');
}
