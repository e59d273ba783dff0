"""Fills a shop with products in categories, of classes, with prices, ratings and reviews."""

from decimal import Decimal

import django
from django.core.management import call_command

from benchmarks.programs.content import Writer

_PRODUCTS = 150


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    from django.contrib.auth import get_user_model  # noqa: PLC0415
    from oscar.apps.catalogue.categories import create_from_breadcrumbs  # noqa: PLC0415
    from oscar.core.loading import get_model  # noqa: PLC0415

    writer = Writer(31)
    random = writer.random
    model = {
        name: get_model(app, name)
        for app, name in (
            ("catalogue", "ProductClass"),
            ("catalogue", "Product"),
            ("catalogue", "ProductCategory"),
            ("partner", "Partner"),
            ("partner", "StockRecord"),
            ("reviews", "ProductReview"),
        )
    }
    users = [
        get_user_model().objects.create_user(name.lower(), f"{name.lower()}@example.org", "secret")
        for name in dict.fromkeys(writer.people)
    ]
    classes = [model["ProductClass"].objects.create(name=writer.title(1)) for _ in range(4)]
    categories = []
    for _ in range(4):
        top = writer.title(1)
        categories += [create_from_breadcrumbs(f"{top} > {writer.title(1)}") for _ in range(3)]
    partner = model["Partner"].objects.create(name="Stock")
    for number in range(_PRODUCTS):
        product = model["Product"].objects.create(
            product_class=random.choice(classes),
            title=writer.title(3),
            upc=f"u{number}",
            description="".join(f"<p>{each}</p>" for each in writer.paragraphs(4)),
        )
        for category in random.sample(categories, random.choice((1, 1, 2))):
            model["ProductCategory"].objects.create(product=product, category=category)
        model["StockRecord"].objects.create(
            product=product,
            partner=partner,
            partner_sku=f"s{number}",
            price=Decimal(random.randint(500, 90000)) / 100,
            num_in_stock=random.randint(0, 20),
        )
        for user in random.sample(users, random.choice((0, 0, 1, 3))):
            model["ProductReview"].objects.create(
                product=product,
                user=user,
                score=random.randint(0, 5),
                title=writer.title(3),
                body=writer.paragraph(),
                status=1,
            )
    call_command("rebuild_index", interactive=False, verbosity=0)


main()
