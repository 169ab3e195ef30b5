// Sends requests for a vendor's address to a local server, so that what is known of that vendor applies to it.

/** Returns a function that ends the redirection. */
export function redirectHost(vendor: string, local: string): () => void {
  const real = globalThis.fetch;
  const redirected: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== new URL(vendor).origin) return real(input, init);
    return real(new URL(`${url.pathname}${url.search}`, new URL(local).origin), init);
  };
  globalThis.fetch = redirected;
  return () => {
    if (globalThis.fetch === redirected) globalThis.fetch = real;
  };
}
