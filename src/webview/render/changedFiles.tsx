// The list above the composer of the agent's changes, to review, keep or undo, and of changes by others meanwhile.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ChangedFileView, ChangesView, HunkView } from '../../protocol/page/changesView.ts';
import type { FromPage } from '../../protocol/webview.ts';
import { shortCount, StripList } from '../panel/strip.tsx';
import { strings } from '../strings/strings.ts';
import { useActions } from './actions.ts';
import { useLastButton } from '../cards/primary.ts';
import { Icon, type IconName } from './icons.tsx';
import { visibleText } from './visibleText.ts';

interface Properties {
  readonly changes: ChangesView;
  /** Changes cannot be undone while the agent works on the same files. */
  readonly running: boolean;
}

export function ChangedFiles({ changes, running }: Properties) {
  const { count, meanwhileCount } = changes;
  if (count + meanwhileCount === 0) return null;
  const spoken = [
    ...(count > 0 ? [strings.changesSpoken(count, changes.added, changes.removed)] : []),
    ...(meanwhileCount > 0 ? [strings.meanwhileSpoken(meanwhileCount)] : []),
  ].join(' ');
  return (
    <StripList
      name="changes"
      label={strings.changes}
      icon="diff"
      count={shortCount(count + meanwhileCount)}
      summary={spoken}
      status={spoken}
    >
      {() => <Files changes={changes} running={running} />}
    </StripList>
  );
}

function Files({ changes, running }: Properties) {
  const actions = useActions();
  const main = useLastButton();
  const [open, setOpen] = useState(true);
  const id = useId();
  const bar = useRef<HTMLDivElement>(null);
  const acted = useRef(false);
  useEffect(() => {
    // After a decision from the keyboard the focused button is gone.
    if (!acted.current || document.activeElement !== document.body) return;
    acted.current = false;
    bar.current?.querySelector<HTMLElement>('.changes-toggle, .changes-name')?.focus();
  }, [changes]);
  const post = (message: FromPage) => {
    acted.current = message.type !== 'review_changes';
    actions.post(message);
  };
  return (
    <div ref={bar}>
      {changes.count > 0 && (
        <>
          <div class="changes-head">
            <button
              type="button"
              class="changes-toggle"
              aria-expanded={open}
              aria-controls={id}
              onClick={() => setOpen(!open)}
            >
              <Icon name={open ? 'chevron-down' : 'chevron-right'} />
              <span class="changes-summary">{strings.filesChanged(changes.count)}</span>
              <Counts added={changes.added} removed={changes.removed} />
            </button>
            <span class="changes-actions">
              <button type="button" class={main} title={strings.keepAllTitle} onClick={() => post({ type: 'keep' })}>
                {strings.keep}
              </button>
              <button
                type="button"
                class="secondary"
                title={running ? strings.undoDisabledTitle : strings.undoAllTitle}
                aria-disabled={running}
                onClick={() => !running && post({ type: 'undo' })}
              >
                {strings.undo}
              </button>
              <button
                type="button"
                class="secondary"
                title={strings.reviewAllTitle}
                onClick={() => post({ type: 'review_changes' })}
              >
                {strings.review}
              </button>
            </span>
          </div>
          <ul id={id} class="changes-files" hidden={!open}>
            {open && changes.files.map((file) => <File key={file.path} file={file} running={running} post={post} />)}
            {open && changes.count > changes.files.length && (
              <li class="quiet small">{strings.moreFiles(changes.count - changes.files.length)}</li>
            )}
          </ul>
        </>
      )}
      {changes.meanwhileCount > 0 && <Meanwhile changes={changes} running={running} post={post} />}
    </div>
  );
}

/** The user restores each of these files separately. */
function Meanwhile({ changes, running, post }: RowProperties & { readonly changes: ChangesView }) {
  const [open, setOpen] = useState(true);
  const id = useId();
  const { meanwhile, meanwhileCount: count } = changes;
  return (
    <div class="changes-meanwhile">
      <div class="changes-head">
        <button
          type="button"
          class="changes-toggle"
          aria-expanded={open}
          aria-controls={id}
          title={strings.meanwhileTitle}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          <span class="changes-summary">{strings.changedMeanwhile(count)}</span>
        </button>
        <span class="changes-actions">
          <button
            type="button"
            class="secondary"
            title={strings.dismissMeanwhileTitle}
            onClick={() => post({ type: 'keep', meanwhile: true })}
          >
            {strings.dismiss}
          </button>
        </span>
      </div>
      {open && <p class="changes-note">{strings.meanwhileNote}</p>}
      <ul id={id} class="changes-files" hidden={!open}>
        {open &&
          meanwhile.map((file) => <File key={file.path} file={file} running={running} post={post} meanwhile={true} />)}
        {open && count > meanwhile.length && (
          <li class="quiet small">{strings.moreMeanwhile(count - meanwhile.length)}</li>
        )}
      </ul>
    </div>
  );
}

interface RowProperties {
  readonly running: boolean;
  readonly post: (message: FromPage) => void;
}

interface FileProperties extends RowProperties {
  readonly file: ChangedFileView;
  /** Changed by others. */
  readonly meanwhile?: true;
}

function File({ file, running, post, meanwhile }: FileProperties) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const { path, kind, hunks } = file;
  const name = visibleText(path);
  const cut = name.lastIndexOf('/') + 1;
  const list = meanwhile === undefined ? {} : { meanwhile };
  return (
    <li class={`changes-file kind-${kind}`}>
      <div class="changes-row">
        {hunks === undefined ? (
          <span class="changes-indent" />
        ) : (
          <IconButton
            icon={open ? 'chevron-down' : 'chevron-right'}
            label={strings.partsOf(hunks.length, name)}
            expanded={open}
            controls={id}
            act={() => setOpen(!open)}
          />
        )}
        <button
          type="button"
          class="changes-name"
          title={strings.reviewFileTitle(name)}
          onClick={() => post({ type: 'review_changes', path, ...list })}
        >
          <span class="hidden">{strings.showChangesOf} </span>
          <span class="changes-base">{name.slice(cut)}</span>
          <span class="changes-folder">{name.slice(0, cut).replace(/\/$/, '')}</span>
        </button>
        <span class="changes-kind">{kind === 'changed' ? '' : strings.changeKinds[kind]}</span>
        {file.uncounted === undefined && <Counts added={file.added} removed={file.removed} />}
        <Decide
          running={running}
          clash={file.clash === true}
          what={name}
          meanwhile={meanwhile === true}
          keep={() => post({ type: 'keep', path, ...list })}
          undo={() => post({ type: 'undo', path, ...list })}
        />
      </div>
      {file.clash === true && <p class="changes-clash">{strings.changesClash}</p>}
      {file.overwrote === true && <p class="changes-clash">{strings.changesOverwrote}</p>}
      {hunks !== undefined && (
        <ul id={id} class="changes-hunks" hidden={!open}>
          {open &&
            hunks.map((hunk, index) => (
              <HunkRow
                key={`${file.version} ${index}`}
                hunk={hunk}
                name={name}
                running={running}
                show={() => post({ type: 'review_changes', path, line: hunk.line })}
                keep={() => post({ type: 'keep', path, hunk: { version: file.version, index } })}
                undo={() => post({ type: 'undo', path, hunk: { version: file.version, index } })}
              />
            ))}
        </ul>
      )}
    </li>
  );
}

interface HunkProperties {
  readonly hunk: HunkView;
  readonly name: string;
  readonly running: boolean;
  readonly show: () => void;
  readonly keep: () => void;
  readonly undo: () => void;
}

function HunkRow({ hunk, name, running, show, keep, undo }: HunkProperties) {
  const what = strings.partAt(name, hunk.line);
  return (
    <li class="changes-row">
      <button type="button" class="changes-name" title={strings.reviewFileTitle(what)} onClick={show}>
        <span class="hidden">{strings.partOf(name)} </span>
        <span class="changes-line">{hunk.line}</span>
        <code>{visibleText(hunk.text)}</code>
      </button>
      <Counts added={hunk.added} removed={hunk.removed} />
      <Decide running={running} clash={false} what={what} keep={keep} undo={undo} />
    </li>
  );
}

interface DecideProperties {
  readonly running: boolean;
  readonly clash: boolean;
  readonly what: string;
  /** Changed by others. */
  readonly meanwhile?: boolean;
  readonly keep: () => void;
  readonly undo: () => void;
}

function Decide({ running, clash, what, keep, undo, meanwhile = false }: DecideProperties) {
  const undoLabel = meanwhile ? strings.restoreMeanwhile(what) : strings.undoOne(what);
  return (
    <span class="changes-decide">
      <IconButton
        icon={meanwhile ? 'close' : 'check'}
        label={meanwhile ? strings.dismissOne(what) : strings.keepOne(what)}
        act={keep}
      />
      {!clash && (
        <IconButton icon="undo" label={running ? strings.undoDisabledTitle : undoLabel} disabled={running} act={undo} />
      )}
    </span>
  );
}

interface IconButtonProperties {
  readonly icon: IconName;
  readonly label: string;
  readonly act: () => void;
  readonly expanded?: boolean;
  readonly controls?: string;
  readonly disabled?: boolean;
}

/** Uses `aria-disabled`, because `disabled` would lose the focus. */
function IconButton({ icon, label, act, expanded, controls, disabled = false }: IconButtonProperties) {
  return (
    <button
      type="button"
      class="icon-button"
      title={label}
      aria-label={label}
      aria-disabled={disabled}
      {...(expanded === undefined ? {} : { 'aria-expanded': expanded })}
      {...(controls === undefined ? {} : { 'aria-controls': controls })}
      onClick={() => !disabled && act()}
    >
      <Icon name={icon} />
    </button>
  );
}

function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span class="changes-counts" aria-label={strings.countsSpoken(added, removed)} role="img">
      <span class="changes-added">+{added}</span> <span class="changes-removed">−{removed}</span>
    </span>
  );
}
