// Reads API keys from the editor's secret storage for a provider, or else from the environment; never from the settings.
import type { SecretStorage } from 'vscode';
import { environmentKey, type Provider } from '../../models/providers.ts';

type KeyOwner = Pick<Provider, 'id' | 'baseUrl'>;

export interface ApiKeys {
  /** Undefined: no key is set. */
  get(provider: KeyOwner): Promise<string | undefined>;
  /** An empty key removes it. */
  set(provider: KeyOwner, key: string): Promise<void>;
}

/** A key is stored for an origin, so that it is never sent to another one, whatever the settings say later. */
export function createApiKeys(secrets: Pick<SecretStorage, 'get' | 'store' | 'delete'>): ApiKeys {
  return {
    get: async (provider) => {
      for (const name of secretNames(provider)) {
        const stored = await secrets.get(name);
        if (stored !== undefined) return stored;
      }
      return environmentKey(provider, process.env);
    },
    set: async (provider, key) => {
      const [own, ...others] = secretNames(provider);
      if (key !== '') return secrets.store(own, key);
      for (const name of [own, ...others]) await secrets.delete(name);
    },
  };
}

/** Two providers may have the same origin and different keys. */
function secretNames({ id, baseUrl }: KeyOwner): readonly [string, ...string[]] {
  const ofOrigin = `earshot.apiKey:${new URL(baseUrl).origin}`;
  return id === '' ? [ofOrigin] : [`${ofOrigin}#${id}`, ofOrigin];
}
