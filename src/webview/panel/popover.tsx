// A dialog above the footer: gets the focus, and closes with Escape or a click elsewhere.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { panelStrings as strings } from '../strings/panelStrings.ts';
import { IconButton } from '../render/icons.tsx';

interface Properties {
  readonly label: string;
  /** A selector of the button that opens and closes it. */
  readonly opener: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Popover({ label, opener, close, children }: Properties) {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => {
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => {
    const outside = (event: Event) => {
      const target = event.target as Element;
      if (panel.current?.contains(target) !== true && target.closest(opener) === null) close();
    };
    window.addEventListener('pointerdown', outside, true);
    return () => window.removeEventListener('pointerdown', outside, true);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return (
    <div class="popover" role="dialog" aria-label={label} tabIndex={-1} ref={panel} onKeyDown={onKeyDown}>
      <div class="popover-head">
        <h2>{label}</h2>
        <IconButton icon="close" label={strings.close} run={close} />
      </div>
      {children}
    </div>
  );
}
