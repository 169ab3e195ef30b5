// Decides which of several main buttons in view is drawn as the primary one: that of the first open request, otherwise
// that of the composer while a message is being written, otherwise any.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

interface ButtonPriority {
  /** The item of the first open request. */
  readonly request: string | undefined;
  readonly isWriting: boolean;
}

type ButtonClass = 'primary' | 'secondary';

const ButtonPriorityContext = createContext<ButtonPriority>({ request: undefined, isWriting: false });
export const ButtonPriorityProvider = ButtonPriorityContext.Provider;

/** The main button of an open request, or of something within its card. */
export function useRequestButton(item: string): ButtonClass {
  const { request } = useContext(ButtonPriorityContext);
  return request === undefined || request === item ? 'primary' : 'secondary';
}

/** A main button that open requests come before. */
export function useButtonAfterRequests(): ButtonClass {
  return useContext(ButtonPriorityContext).request === undefined ? 'primary' : 'secondary';
}

/** A main button that open requests and a message being written come before. */
export function useLastButton(): ButtonClass {
  const { request, isWriting } = useContext(ButtonPriorityContext);
  return request === undefined && !isWriting ? 'primary' : 'secondary';
}
