// The item of the transcript that the user asked to see: its card opens, and its group.
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';

export interface Revealed {
  readonly item: string;
  /** Marked in it. */
  readonly text: string;
}

const RevealedContext = createContext<Revealed | null>(null);
export const RevealedProvider = RevealedContext.Provider;

/** Opens what has one of these items when the user asks to see it. */
export function useReveal(items: readonly string[], open: () => void): void {
  const revealed = useContext(RevealedContext);
  useEffect(() => {
    if (revealed !== null && items.includes(revealed.item)) open();
  }, [revealed]);
}
