"""Debian's headless Chromium, which shows pages as their readers see them."""

from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium(profile):
    """Start the browser, whose profile is this folder, and stop it afterwards."""
    for program in (CHROMIUM, DRIVER):
        if not program.exists():
            msg = f"{program} is missing: apt-get install chromium chromium-driver"
            raise FileNotFoundError(msg)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SE_OFFLINE", "true")  # the driver is given: nothing is to be fetched
        driver = webdriver.Chrome(options, Service(str(DRIVER)))
        try:
            yield driver
        finally:
            driver.quit()


def emulate(browser, width, height=844, *, mobile=False, media="screen", scheme="light"):
    """Give the browser a screen, or paper, and the reader's wish for light or dark."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    wish = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [wish]})
