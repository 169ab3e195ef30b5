// The strip of small buttons above the composer: background commands, timers, to-do, changes and pending notifications.
// One list at a time opens above the strip; it takes its space from the transcript, so that the transcript's end stays
// visible.
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Level } from '../../protocol/notification.ts';
import { useActions } from '../render/actions.ts';
import { Icon, type IconName } from '../render/icons.tsx';

interface OpenList {
  readonly open: string | null;
  readonly setOpen: (id: string | null) => void;
}

const OpenListContext = createContext<OpenList>({ open: null, setOpen: () => undefined });

export function Strip({ children }: { readonly children: ComponentChildren }) {
  const [open, setOpen] = useState<string | null>(null);
  const value = useMemo(() => ({ open, setOpen }), [open]);
  return (
    <OpenListContext.Provider value={value}>
      <div class="strip">{children}</div>
    </OpenListContext.Provider>
  );
}

interface Properties {
  /** Class of the section. */
  readonly name: 'handles' | 'due' | 'todo' | 'changes' | 'drawer';
  /** Colours the icon. */
  readonly level?: Level | undefined;
  /** Names the section and the button. */
  readonly label: string;
  readonly icon: IconName;
  readonly count: string;
  /** The tooltip of the button, read out after its name. */
  readonly summary: string;
  /** Added to the tooltip. */
  readonly note?: string | undefined;
  /** Read out when it changes, also while the list is closed. */
  readonly status?: ComponentChildren;
  readonly children: () => ComponentChildren;
}

/** A button of the strip, and its list. */
export function StripList({ name, level, label, icon, count, summary, note, status, children }: Properties) {
  const { open, setOpen } = useContext(OpenListContext);
  const { focusComposer } = useActions();
  // Ids of `useId` are not unique among lists that appear at different times.
  const id = `list-${name}`;
  const section = useRef<HTMLElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isOpen = open === id;
  const latest = useRef(isOpen);
  latest.current = isOpen;
  useLayoutEffect(() => {
    const element = section.current;
    return () => {
      if (latest.current) setOpen(null);
      if (element?.contains(document.activeElement) === true) focusComposer();
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(null);
    button.current?.focus();
  };
  return (
    <section
      class={level === undefined ? name : `${name} level-${level}`}
      aria-label={label}
      ref={section}
      onKeyDown={onKeyDown}
    >
      <button
        type="button"
        ref={button}
        class="strip-button"
        title={note === undefined ? summary : `${summary}\n${note}`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(isOpen ? null : id)}
      >
        <Icon name={icon} />
        <span class="strip-label">{label} </span>
        <span class="strip-count">{count}</span>
      </button>
      <div id={id} class="sheet" hidden={!isOpen}>
        {isOpen && children()}
      </div>
      <span class="hidden" role="status">
        {status}
      </span>
    </section>
  );
}

/** `99+`, so that four buttons fit into a narrow panel. */
export function shortCount(count: number): string {
  return count > 99 ? '99+' : String(count);
}
