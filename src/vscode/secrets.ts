// Where API keys come from: the environment for this endpoint, else the editor's secret storage. Never the settings.
import { type SecretStorage } from 'vscode';

const OPENAI = 'https://api.openai.com';

export function createApiKeys(secrets: SecretStorage): (baseUrl: string) => Promise<string | undefined> {
  return async (baseUrl) => {
    const { origin } = new URL(baseUrl);
    const stored = await secrets.get(`earshot.apiKey:${origin}`);
    if (stored !== undefined) return stored;
    // A key meant for one provider is not sent to another.
    const general = origin === OPENAI ? process.env['OPENAI_API_KEY'] : undefined;
    return process.env['EARSHOT_API_KEY'] ?? general;
  };
}
