// The actions available to components, provided by the page, so that components do not depend on the transport.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { FileDiff } from '../../protocol/page/diffView.ts';
import type { FromPage } from '../../protocol/webview.ts';

export interface Actions {
  post(message: FromPage): void;
  /** The conversation that is rendered: an answer is for it, even if another one has arrived since. */
  readonly conversation: string | undefined;
  /** Whether the host handles the message. Buttons for other messages are hidden. */
  offers(type: FromPage['type']): boolean;
  /** Another window owns the conversation. */
  readonly followed: boolean;
  copy(text: string): Promise<void>;
  /** Scrolls to an item of the transcript, opens it and marks the text. */
  showItem(item: string, text: string): void;
  /** Moves the focus to the composer. */
  focusComposer(): void;
  /** The file changes of a call. */
  readDiff(call: string): Promise<readonly FileDiff[]>;
  /** An image or a recording, in base64; undefined if it is no longer stored. */
  readMedia(hash: string): Promise<string | undefined>;
}

const ActionsContext = createContext<Actions>({
  post: () => {},
  conversation: undefined,
  offers: () => true,
  followed: false,
  copy: async () => {},
  showItem: () => {},
  focusComposer: () => {},
  readDiff: async () => [],
  readMedia: async () => undefined,
});
export const ActionsProvider = ActionsContext.Provider;

export function useActions(): Actions {
  return useContext(ActionsContext);
}
