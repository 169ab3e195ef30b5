// A person who uses the chat by keyboard alone: presses keys and goes from element to element.
import { expect } from 'vitest';
import { type Workbench } from '../workbench.ts';

export interface Tabbing {
  press(key: string): Promise<void>;
  /** The name of the focused element of the chat; undefined: the focus is elsewhere. */
  focused(): Promise<string | undefined>;
  /** Goes backwards from the composer to the first element with one of these names; repeats until there is one. */
  tabTo(...names: readonly string[]): Promise<string>;
  /** The same once, and forwards with `Tab`. */
  tabBack(names: readonly string[], key?: 'Shift+Tab' | 'Tab'): Promise<string | undefined>;
}

export function createTabbing(workbench: Pick<Workbench, 'page' | 'chat'>): Tabbing {
  const press = (key: string) => workbench.page.keyboard.press(key);
  const focused = async () => {
    const element = workbench.chat().locator(':focus');
    if ((await element.count()) === 0) return undefined;
    return element.evaluate((one: HTMLElement) => {
      // The page remembers its focused element while keys go elsewhere in the window.
      if (!one.ownerDocument.hasFocus()) return undefined;
      const label = one instanceof HTMLInputElement ? one.labels?.[0]?.textContent : one.textContent;
      return (one.getAttribute('aria-label') ?? label ?? '').trim();
    });
  };
  const tabBack: Tabbing['tabBack'] = async (names, key = 'Shift+Tab') => {
    await press('Control+Alt+e');
    await expect.poll(focused).toBe('Message to Earshot');
    for (let presses = 0; presses < 60; presses++) {
      await press(key);
      const at = await focused();
      if (at === undefined || names.includes(at)) return at;
    }
    return undefined;
  };
  const tabTo: Tabbing['tabTo'] = async (...names) => {
    let found: string | undefined;
    const reaches = async () => {
      found = await tabBack(names);
      return found !== undefined;
    };
    await expect.poll(reaches, { interval: 500, message: `${names.join()} is reached by Shift+Tab` }).toBe(true);
    return found ?? '';
  };
  return { press, focused, tabTo, tabBack };
}
