// The HTML report in a real browser: filters, clicks, keys, ledger, themes, printing; nothing is loaded from anywhere.
//
// DRIP names the binary; DRIP_REPORTS (separated by colons) names further reports that have to pass the general tests,
// those of large programs for instance.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { openBrowser, openReport } from "./browser.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLE = join(ROOT, "examples/inventory");
const LARGE = 10_000;
const MAX_OPEN_MS = 1_000;

let work;
let browser;

before(async () => {
  work = mkdtempSync(join(tmpdir(), "drip-html-"));
  const sources = readdirSync(join(EXAMPLE, "src")).filter((name) => name.endsWith(".c")).map((name) => `src/${name}`).sort();
  const drip = process.env.DRIP || join(ROOT, "target/debug/drip");
  execFileSync(drip, ["check", "-q", "--exit-zero", `--output-format=html=${join(work, "example.html")}`, ...sources],
    { cwd: EXAMPLE, env: { ...process.env, DRIP_CACHE_DIR: join(work, "cache") } });
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
});

const report = (name = "example.html") => openReport(browser.context, join(work, name));
const texts = (page, selector) => page.locator(selector).allTextContents();

function quiet(page) {
  assert.deepEqual(page.requests, [], "the page asks for nothing");
  assert.deepEqual(page.errors, [], "the page reports no error");
}

// How long the page takes to open, in milliseconds: the best of three, because the machine may be busy with something else.
async function openingTime(page) {
  const once = () => page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
  let best = await once();
  for (let again = 0; again < 2; again++) {
    await page.reload();
    await page.waitForSelector("html[data-ready=true]");
    best = Math.min(best, await once());
  }
  return best;
}

// The same report with other data.
function changed(name, change) {
  const text = readFileSync(join(work, "example.html"), "utf8");
  const [, json] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text);
  const data = JSON.parse(json);
  change(data);
  const written = JSON.stringify(data).replaceAll("<", "\\u003c");
  writeFileSync(join(work, name), text.replace(json, () => written));
}

describe("findings", () => {
  test("are listed by file, the first one is open", async () => {
    const page = await report();
    assert.equal(await page.locator(".item").count(), 5);
    assert.deepEqual(await texts(page, ".group span:first-child"), ["src/config.c", "src/file.c", "src/store.c"]);
    assert.match(await page.locator("#detail h1").textContent(), /key allocated by mem_dup_part/);
    assert.match(await page.title(), /5 findings in inventory/);
    quiet(page);
    await page.close();
  });

  test("are filtered by text, file, rule and confidence", async () => {
    const page = await report();
    await page.fill("#find-text", "longest");
    assert.equal(await page.locator(".item").count(), 1);
    assert.match(await page.locator("#detail h1").textContent(), /longest/);
    await page.fill("#find-text", "no such thing");
    assert.equal(await page.locator(".item").count(), 0);
    assert.match(await page.locator("#find-list").textContent(), /Nothing matches/);
    await page.click("#find-clear");
    assert.equal(await page.locator(".item").count(), 5);
    await page.selectOption("#find-file", "f:src/store.c");
    assert.equal(await page.locator(".item").count(), 3);
    await page.click("#find-rules .chip[data-key=D002]");
    assert.deepEqual(await texts(page, ".item .where code"), ["store_add_line"]);
    assert.equal(await page.textContent("#find-shown"), "1 of 5 findings");
    await page.click("#find-clear");
    await page.click("#find-confidence .chip[data-key=high]");
    assert.equal(await page.getAttribute("#find-confidence .chip[data-key=high]", "aria-pressed"), "true");
    await page.close();
  });

  test("open on a click and by n and p", async () => {
    const page = await report();
    await page.locator(".item").nth(2).click();
    assert.match(await page.textContent("#detail h1"), /item->name/);
    await page.keyboard.press("n");
    assert.match(await page.textContent("#detail h1"), /unit/);
    await page.keyboard.press("p");
    await page.keyboard.press("p");
    assert.match(await page.textContent("#detail h1"), /text allocated by mem_alloc/);
    await page.click("text=about D003");
    assert.match(await page.textContent(".about"), /realloc/);
    await page.close();
  });

  test("are walked step by step with j, k and clicks", async () => {
    const page = await report();
    const current = async () => (await texts(page, ".step[aria-current=step] .num"))[0];
    const line = () => page.locator(".source .ln.now .no").textContent();
    assert.deepEqual([await current(), await line()], ["1", "50"]);
    assert.match(await page.textContent("#state"), /allocated, held by key/);
    await page.keyboard.press("j");
    assert.deepEqual([await current(), await line()], ["2", "54"]);
    assert.match(await page.textContent("#state"), /Known so far.*\*value == '\\0'/s);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    assert.deepEqual([await current(), await line()], ["3", "56"]);
    assert.match(await page.textContent("#state"), /lost/);
    assert.match(await page.textContent(".note.now"), /put mem_free\(key\); before this line/);
    await page.keyboard.press("k");
    assert.equal(await current(), "2");
    await page.locator(".step").nth(0).click();
    assert.equal(await line(), "50");
    await page.locator(".source .note.lost button").click();
    assert.equal(await current(), "3");
    assert.equal(await page.locator(".source .note.lost").evaluate((note) => {
      const box = note.getBoundingClientRect();
      return box.top > 0 && box.bottom < innerHeight;
    }), true);
    await page.close();
  });

  test("show coloured source with the place marked", async () => {
    const page = await report();
    assert.equal(await page.locator(".ln .k", { hasText: "return" }).count() > 0, true);
    assert.equal((await texts(page, "mark.lost")).join(""), "return false");
    const colors = await page.locator(".ln .k, .ln .s, .ln .c, .ln .f").evaluateAll((spans) => [...new Set(spans.map((span) => getComputedStyle(span).color))]);
    assert.ok(colors.length >= 4, `${colors.length} colours`);
    await page.close();
  });

  test("have addresses", async () => {
    const page = await report();
    await page.locator(".item").nth(3).click();
    await page.keyboard.press("j");
    // Asked of the page itself: `page.url()` learns of a replaced address only after the browser has told it.
    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, /^#f\/[0-9a-f]+\/2$/);
    await page.reload();
    await page.waitForSelector("html[data-ready=true]");
    assert.match(await page.textContent("#detail h1"), /unit/);
    assert.equal((await texts(page, ".step[aria-current=step] .num"))[0], "2");
    await page.close();
  });

  test("may contain anything", async () => {
    changed("hostile.html", (data) => {
      data.findings[0].message = "</script><img src=x onerror=document.title='owned'> `<b>`";
      data.sources[data.findings[0].file][0][2][0] = "</script><script>document.title='owned'</script>";
      data.ledger.rows[0][7] = "<img src=x onerror=document.title='owned'>";
    });
    const page = await report("hostile.html");
    assert.match(await page.textContent("#detail h1"), /<img src=x/);
    await page.keyboard.press("2");
    assert.match(await page.title(), /5 findings/);
    quiet(page);
    await page.close();
  });
});

describe("the ledger", () => {
  test("is searched, filtered and sorted, and leads to findings", async () => {
    const page = await report();
    await page.keyboard.press("2");
    const count = () => page.textContent("#ledger-shown");
    assert.match(await count(), /^\d+ allocation sites$/);
    await page.keyboard.press("/");
    await page.keyboard.type("parse_line");
    // The search follows the keys with a short delay; what it leaves is the answer to the whole word.
    const rows = (word) => [...document.querySelectorAll("#ledger-rows .row")].every((row) => row.textContent.includes(word));
    await page.waitForFunction(rows, "parse_line");
    assert.match(await count(), /^\d+ of \d+ allocation sites$/);
    assert.ok((await texts(page, "#ledger-rows .row")).length > 0);
    for (const text of await texts(page, "#ledger-rows .row")) assert.match(text, /parse_line/);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.getElementById("ledger-shown").textContent.includes(" of "));
    await page.click("#ledger-verdicts .chip[data-key=leak]");
    assert.equal(await page.locator("#ledger-rows .row").count(), 6);
    await page.click("[data-sort=function]");
    const names = await page.locator("#ledger-rows .row").evaluateAll((rows) => rows.map((row) => row.children[2].textContent));
    assert.deepEqual(names, [...names].sort());
    await page.click("[data-sort=function]");
    const reversed = await page.locator("#ledger-rows .row").evaluateAll((rows) => rows.map((row) => row.children[2].textContent));
    assert.deepEqual(reversed, [...names].reverse());
    await page.locator("#ledger-rows .row", { hasText: "file_read" }).click();
    assert.match(await page.textContent("#detail h1"), /text allocated by mem_alloc/);
    quiet(page);
    await page.close();
  });

  test(`of ${LARGE} rows opens within ${MAX_OPEN_MS} ms and is searched at once`, async () => {
    changed("large.html", (data) => {
      const { rows } = data.ledger;
      const some = rows.length;
      for (let i = some; i < LARGE; i++) rows.push([...rows[i % some].slice(0, 7), `code of row ${i}`]);
    });
    const page = await report("large.html");
    const opened = await openingTime(page);
    assert.ok(opened < MAX_OPEN_MS, `${Math.round(opened)} ms`);
    await page.keyboard.press("2");
    assert.equal(await page.textContent("#ledger-shown"), "10,000 allocation sites");
    assert.ok(await page.locator("#ledger-rows .row").count() < 100, "only rows in sight are made");
    await page.locator("#ledger-scroll").evaluate((scroll) => { scroll.scrollTop = scroll.scrollHeight; });
    await page.locator("#ledger-rows .row", { hasText: "code of row 9999" }).waitFor();
    const searched = await page.evaluate(() => {
      const start = performance.now();
      const input = document.getElementById("ledger-text");
      input.value = "row 7777";
      input.dispatchEvent(new Event("input"));
      return new Promise((done) => { setTimeout(() => done(performance.now() - start), 0); });
    });
    await page.waitForFunction(() => document.querySelectorAll("#ledger-rows .row").length === 1);
    assert.ok(searched < 300, `${Math.round(searched)} ms`);
    console.log(`# ${LARGE} rows: open ${Math.round(opened)} ms, search ${Math.round(searched)} ms`);
    quiet(page);
    await page.close();
  });
});

describe("the page", () => {
  test("has charts that lead to what they count", async () => {
    const page = await report();
    await page.keyboard.press("3");
    assert.deepEqual(await texts(page, ".tile .big"), ["5", await page.locator(".tile .big").nth(1).textContent(), "3", "7 / 7"]);
    await page.click(".bar:has-text('D003')");
    assert.equal(await page.locator(".item").count(), 2);
    await page.keyboard.press("3");
    await page.click(".legend .verdict:has-text('leak')");
    assert.equal(await page.locator("#ledger-rows .row").count(), 6);
    quiet(page);
    await page.close();
  });

  test("is dark by the system's choice, by button and by key", async () => {
    const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const page = await report();
    await page.evaluate(() => localStorage.clear());
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForSelector("html[data-theme=light]");
    const light = await background(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForSelector("html[data-theme=dark]");
    const dark = await background(page);
    assert.notEqual(light, dark);
    await page.click("#theme");
    assert.equal(await background(page), light);
    await page.keyboard.press("t");
    assert.equal(await background(page), dark);
    await page.reload();
    await page.waitForSelector("html[data-ready=true]");
    assert.equal(await background(page), dark);
    await page.evaluate(() => localStorage.clear());
    await page.close();
  });

  test("tells its keys", async () => {
    const page = await report();
    await page.keyboard.press("?");
    assert.equal(await page.locator("dialog[open]").count(), 1);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    await page.close();
  });

  test("is printed with all findings", async () => {
    const page = await report();
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20_000);
    assert.equal(await page.locator("#print section").count(), 5);
    assert.equal(await page.locator("#print .note").count() >= 15, true);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".top").isVisible(), false);
    assert.equal(await page.locator("#print section").first().isVisible(), true);
    await page.close();
  });

  test("fits a small screen", async () => {
    const page = await report();
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${wide} px wide`);
    await page.close();
  });

  test("without findings says so", async () => {
    changed("clean.html", (data) => { data.findings = []; });
    const page = await report("clean.html");
    assert.match(await page.textContent("#detail"), /No leaks found/);
    await page.keyboard.press("j");
    await page.keyboard.press("3");
    quiet(page);
    await page.close();
  });
});

describe("other reports", () => {
  for (const file of (process.env.DRIP_REPORTS || "").split(":").filter(Boolean)) {
    test(basename(file), async () => {
      const page = await openReport(browser.context, resolve(file));
      const opened = await openingTime(page);
      const all = await page.locator(".item").count();
      assert.ok(all > 0);
      await page.locator(".item").nth(Math.floor(all / 2)).click();
      await page.keyboard.press("j");
      assert.equal(await page.locator(".step[aria-current=step]").count(), 1);
      await page.locator("#find-rules .chip").first().click();
      assert.ok(await page.locator(".item").count() <= all);
      await page.keyboard.press("t");
      await page.keyboard.press("2");
      await page.keyboard.press("/");
      await page.keyboard.type("malloc");
      await page.waitForFunction(() => document.getElementById("ledger-shown").textContent.includes(" of "));
      console.log(`# ${basename(file)}: ${all} findings, open ${Math.round(opened)} ms`);
      assert.ok(opened < MAX_OPEN_MS, `${Math.round(opened)} ms`);
      quiet(page);
      await page.close();
    });
  }
});
