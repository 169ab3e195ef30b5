// What drawn parts may do to the world outside: given by whoever shows them, so that they know no transport.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { FileDiff } from '../../protocol/diffView.ts';
import type { FromPage } from '../../protocol/webview.ts';

export interface Actions {
  post(message: FromPage): void;
  copy(text: string): Promise<void>;
  /** Gives the keyboard back to the composer. */
  focusComposer(): void;
  /** What a call did to files. */
  readDiff(call: string): Promise<readonly FileDiff[]>;
}

const ActionsContext = createContext<Actions>({
  post: () => {},
  copy: async () => {},
  focusComposer: () => {},
  readDiff: async () => [],
});
export const ActionsProvider = ActionsContext.Provider;

export function useActions(): Actions {
  return useContext(ActionsContext);
}
