// Debian's Chromium, driven by playwright-core; each browser has a fresh profile and no network.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export async function openBrowser(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "drip-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS, viewport: { width: 1440, height: 900 }, ...options,
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

// Opens a report; collects every request beside the file itself, and every error of the page.
export async function openReport(context, file) {
  const page = await context.newPage();
  const address = pathToFileURL(file).href;
  page.requests = [];
  page.errors = [];
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address && !request.url().startsWith("data:")) page.requests.push(request.url());
  });
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") page.errors.push(message.text()); });
  await page.goto(address);
  await page.waitForSelector("html[data-ready=true]");
  return page;
}
