// Reads API keys from the editor's secret storage for the endpoint, or else from the environment; never from the
// settings.
import { type SecretStorage } from 'vscode';

const OPENAI = 'https://api.openai.com';

export interface ApiKeys {
  /** Undefined: no key is set. */
  get(baseUrl: string): Promise<string | undefined>;
  /** An empty key removes it. */
  set(baseUrl: string, key: string): Promise<void>;
}

export function createApiKeys(secrets: SecretStorage): ApiKeys {
  return {
    get: async (baseUrl) => {
      const stored = await secrets.get(secretName(baseUrl));
      if (stored !== undefined) return stored;
      // A key meant for one provider is not sent to another.
      const general = new URL(baseUrl).origin === OPENAI ? process.env['OPENAI_API_KEY'] : undefined;
      return process.env['EARSHOT_API_KEY'] ?? general;
    },
    set: async (baseUrl, key) => {
      await (key === '' ? secrets.delete(secretName(baseUrl)) : secrets.store(secretName(baseUrl), key));
    },
  };
}

function secretName(baseUrl: string): string {
  return `earshot.apiKey:${new URL(baseUrl).origin}`;
}
