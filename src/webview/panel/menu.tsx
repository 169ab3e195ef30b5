// A button with a menu: arrow keys, Escape, and focus returned to the button. The menu is above the page and moves
// nothing.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../render/icons.tsx';

interface MenuChoice {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly icon?: IconName;
  /** Set if one of the choices is the current one. */
  readonly checked?: boolean;
  readonly run: () => void;
}

interface Properties {
  readonly label: string;
  readonly title?: string;
  readonly class: string;
  readonly choices: readonly MenuChoice[];
  readonly children: ComponentChildren;
  /** Called when it is opened. */
  readonly onOpen?: () => void;
}

const MARGIN = 6;

export function MenuButton({ label, title = label, class: name, choices, children, onOpen }: Properties) {
  const [open, setOpen] = useState(false);
  const show = () => {
    setOpen(true);
    onOpen?.();
  };
  const button = useRef<HTMLButtonElement>(null);
  const close = (withFocus: boolean) => {
    setOpen(false);
    if (withFocus) button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (open || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
    event.preventDefault();
    show();
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        class={name}
        title={title}
        aria-label={title}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => (open ? setOpen(false) : show())}
        onKeyDown={onKeyDown}
      >
        {children}
      </button>
      {open && <Menu label={label} anchor={button.current} choices={choices} close={close} />}
    </>
  );
}

interface MenuProperties {
  readonly label: string;
  readonly anchor: HTMLElement | null;
  readonly choices: readonly MenuChoice[];
  readonly close: (withFocus: boolean) => void;
}

function Menu({ label, anchor, choices, close }: MenuProperties) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (menu.current === null || anchor === null) return;
    // A popover is in the top layer, where nothing clips it.
    if (!menu.current.matches(':popover-open')) menu.current.showPopover();
    place(menu.current, anchor.getBoundingClientRect());
    const items = itemsOf(menu.current);
    (items.find((item) => item.getAttribute('aria-checked') === 'true') ?? items[0])?.focus();
    // Choices may arrive after the menu was opened.
  }, [choices.length]);
  useEffect(() => {
    const outside = (event: Event) => {
      const target = event.target as Node;
      if (menu.current?.contains(target) !== true && anchor?.contains(target) !== true) close(false);
    };
    const left = () => close(false);
    window.addEventListener('pointerdown', outside, true);
    window.addEventListener('blur', left);
    window.addEventListener('resize', left);
    return () => {
      window.removeEventListener('pointerdown', outside, true);
      window.removeEventListener('blur', left);
      window.removeEventListener('resize', left);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const items = menu.current === null ? [] : itemsOf(menu.current);
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = nextIndex(event.key, at, items.length);
    if (next !== undefined) items[next]?.focus();
    else if (event.key === 'Escape') close(true);
    else if (event.key === 'Tab') close(false);
    else return;
    if (event.key === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
  };
  const choose = (choice: MenuChoice) => {
    close(true);
    choice.run();
  };
  return (
    <div class="menu" role="menu" popover="manual" aria-label={label} ref={menu} onKeyDown={onKeyDown}>
      {choices.map((choice) => (
        <button
          type="button"
          key={choice.id}
          class="menu-item"
          role={choice.checked === undefined ? 'menuitem' : 'menuitemradio'}
          {...(choice.checked === undefined ? {} : { 'aria-checked': choice.checked })}
          tabIndex={-1}
          onClick={() => choose(choice)}
        >
          <span class="menu-icon">
            {choice.checked === true && <Icon name="check" />}
            {choice.icon !== undefined && <Icon name={choice.icon} />}
          </span>
          <span class="menu-label">{choice.label}</span>
          {choice.detail !== undefined && <span class="menu-detail">{choice.detail}</span>}
        </button>
      ))}
    </div>
  );
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('.menu-item')];
}

function nextIndex(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at - 1 + count) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

/** Above the button if there is more room, and always inside the panel. */
function place(menu: HTMLElement, anchor: DOMRect): void {
  const { innerWidth: width, innerHeight: height } = window;
  const above = anchor.top > height - anchor.bottom;
  const room = (above ? anchor.top : height - anchor.bottom) - 2 * MARGIN;
  menu.style.maxHeight = `${Math.max(80, room)}px`;
  menu.style.maxWidth = `${width - 2 * MARGIN}px`;
  const own = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(MARGIN, Math.min(anchor.left, width - own.width - MARGIN))}px`;
  if (above) menu.style.bottom = `${height - anchor.top + 2}px`;
  else menu.style.top = `${anchor.bottom + 2}px`;
}
