import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CheckReport } from '../../src/check-report.ts'
import { checkHtml } from '../../src/reporters/html.ts'
import { plainPaint } from '../../src/terminal.ts'
import { fullReport, hostileNames, hostileReport } from '../reporters/check-builders.ts'
import { findChromium, startBrowser } from './browser.ts'

const browser = findChromium()
const folder = mkdtempSync(join(tmpdir(), 'gpufare-html-'))

// needs Chromium; on Debian: apt-get install chromium
describe.skipIf(browser === undefined)('Chromium (apt-get install chromium): the HTML report', () => {
  let context: BrowserContext
  let stop = async () => {}
  beforeAll(async () => {
    ;({ context, stop } = await startBrowser(browser ?? ''))
  })
  afterAll(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Opens a report as a file and keeps what the page asks for and complains about. */
  async function open(report: CheckReport, look: { readonly dark?: boolean; readonly width?: number } = {}) {
    const file = join(folder, 'report.html')
    writeFileSync(file, checkHtml.render(report, { width: 80, paint: plainPaint }))
    const page = await context.newPage()
    const complaints: string[] = []
    const requests: string[] = []
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    page.on('dialog', async dialog => {
      complaints.push(`dialog: ${dialog.message()}`)
      await dialog.dismiss()
    })
    page.on('request', request => requests.push(request.url()))
    await page.emulateMedia({ colorScheme: look.dark === true ? 'dark' : 'light' })
    await page.setViewportSize({ width: look.width ?? 1_200, height: 900 })
    await page.goto(pathToFileURL(file).href)
    return { page, complaints, requests, own: pathToFileURL(file).href }
  }

  /** What axe finds. Its script is run by the driver, beside the page's own policy. */
  async function violations(page: Page): Promise<readonly string[]> {
    const found = await page.evaluate(
      `(() => { ${axe.source}; return axe.run(document, { resultTypes: ['violations'] }) })().then(result => result.violations.map(each => each.id + ': ' + each.nodes.map(node => node.html).join(' ')))`,
    )
    return Array.isArray(found) ? found : ['axe gave no answer']
  }

  test.each([
    ['light', { dark: false }],
    ['dark', { dark: true }],
    ['light, on a phone', { dark: false, width: 360 }],
    ['dark, on a phone', { dark: true, width: 360 }],
  ])('axe finds nothing in it, %s', async (_, look) => {
    const { page, complaints } = await open(fullReport, look)
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.close()
  })

  test('axe would find what is wrong', async () => {
    const { page } = await open(fullReport)
    await page.evaluate("document.querySelector('svg').removeAttribute('aria-label')")
    expect((await violations(page)).join()).toMatch(/^svg-img-alt/)
    await page.close()
  })

  test('asks for nothing but itself', async () => {
    const { page, requests, own } = await open(fullReport)
    expect(requests).toEqual([own])
    await page.close()
  })

  test('is no wider than a phone', async () => {
    const { page } = await open(fullReport, { width: 360 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await page.close()
  })

  test('has letters in the plot that can be read on a phone', async () => {
    const { page } = await open(fullReport, { width: 360 })
    const height = await page.evaluate("document.querySelector('svg text').getBoundingClientRect().height")
    expect(height).toBeGreaterThanOrEqual(11)
    await page.close()
  })

  test('keeps every figure of the plot inside it', async () => {
    const { page } = await open(fullReport)
    const outside = await page.evaluate(`(() => {
      const frame = document.querySelector('svg').getBoundingClientRect()
      return [...document.querySelectorAll('svg text, svg circle, svg path')].filter(each => {
        const box = each.getBoundingClientRect()
        return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom
      }).length
    })()`)
    expect(outside).toBe(0)
    await page.close()
  })

  test('sorts a table by a column, up and down, by the mouse and by the keyboard, the unknown last', async () => {
    const { page } = await open(fullReport)
    const jobs = page.getByRole('region', { name: 'jobs', exact: true })
    const column = async () => (await jobs.locator('tbody tr td:first-child').allTextContents()).join(' ')
    const cost = jobs.getByRole('button', { name: 'cost' })
    expect(await column()).toBe('train finetune sweep notebook')
    await cost.click()
    expect(await column()).toBe('finetune train sweep notebook')
    expect(await jobs.locator('th[aria-sort=ascending]').textContent()).toBe('cost')
    await cost.press('Enter')
    expect(await column()).toBe('sweep train finetune notebook')
    await jobs.getByRole('button', { name: 'job' }).click()
    expect(await column()).toBe('finetune notebook sweep train')
    await page.close()
  })

  test.each(hostileNames.filter(name => /[<"]/.test(name)))(
    'a name like %j runs nothing and builds nothing',
    async name => {
      const { page, complaints, requests } = await open(hostileReport(name))
      expect({ complaints, requests: requests.length }).toEqual({ complaints: [], requests: 1 })
      const built = await page.evaluate(
        "document.querySelectorAll('img, a, x, iframe, script:not(body > script)').length",
      )
      expect(built).toBe(0)
      await page.close()
    },
  )
})
